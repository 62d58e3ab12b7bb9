"""example_ctypes.py LIBNIBU MODEL TEXT: translates a text through the C interface, with ctypes alone."""
import sys
from ctypes import CDLL, byref, c_char_p, c_size_t, c_void_p

nibu, path, text = CDLL(sys.argv[1]), sys.argv[2].encode(), c_char_p(sys.argv[3].encode())
nibu.nibu_result_text.restype = nibu.nibu_error_message.restype = c_char_p
translator, result, error = (c_void_p() for _ in range(3))
if (nibu.nibu_open(path, None, byref(translator), byref(error)) or
        nibu.nibu_translate(translator, None, byref(text), None, c_size_t(1), None, byref(result), byref(error))):
    sys.exit(nibu.nibu_error_message(error).decode())
print(nibu.nibu_result_text(result, c_size_t(0), c_size_t(0), None).decode())
