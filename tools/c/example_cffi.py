"""example_cffi.py LIBNIBU MODEL TEXT HEADER: translates a text through the C interface, which cffi reads from c.h."""
import re
import sys
from cffi import FFI

ffi, path, text = FFI(), sys.argv[2].encode(), sys.argv[3].encode()
ffi.cdef(re.sub(r"(?s)/\*.*?\*/|#ifdef __cplusplus.*?#endif|#[^\n]*|NIBU_EXPORT", "", open(sys.argv[4]).read()))
nibu, texts, null = ffi.dlopen(sys.argv[1]), [ffi.from_buffer("char[]", text + b"\0")], ffi.NULL
translator, result, error = (ffi.new(f"nibu_{handle}**") for handle in ("translator", "result", "error"))
if (nibu.nibu_open(path, null, translator, error) or
        nibu.nibu_translate(translator[0], null, texts, null, 1, null, result, error)):
    sys.exit(ffi.string(nibu.nibu_error_message(error[0])).decode())
print(ffi.string(nibu.nibu_result_text(result[0], 0, 0, null)).decode())
