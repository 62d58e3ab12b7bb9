# cmake --install and find_package(nibu).
