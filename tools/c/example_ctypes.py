"""example_ctypes.py LIBNIBU MODEL TEXT: translates a text through the C interface, with ctypes alone."""
import sys
from ctypes import CDLL, byref, c_char_p, c_size_t, c_void_p

nibu, path, text = CDLL(sys.argv[1]), sys.argv[2].encode(), c_char_p(sys.argv[3].encode())
nibu.nibu_result_text.restype = nibu.nibu_error_message.restype = c_char_p
model, translator, plan, result, error = (c_void_p() for _ in range(5))
if (nibu.nibu_model_load(path, None, byref(model), byref(error)) or
        nibu.nibu_translator_new(None, byref(translator), byref(error)) or
        nibu.nibu_plan_new(translator, model, None, byref(plan), byref(error)) or
        nibu.nibu_translate(translator, plan, byref(text), None, c_size_t(1), None, byref(result), byref(error))):
    sys.exit(nibu.nibu_error_message(error).decode())
print(nibu.nibu_result_text(result, c_size_t(0), c_size_t(0), None).decode())
