/* Marks what the shared library exports. Plain C, because nibu/c.h includes this header. */
#ifndef NIBU_EXPORT_H_
#define NIBU_EXPORT_H_

/* libnibu.so is built with hidden visibility: its users see what bears this mark, and nothing
   else. */
#if defined(__GNUC__)
#define NIBU_EXPORT __attribute__((visibility("default")))
#else
#define NIBU_EXPORT
#endif

#endif /* NIBU_EXPORT_H_ */
