// Static variables of this library are never destroyed. The program's static destructors, and what
// it gave to atexit(), may still call the runtime, and which of all these run first depends on
// which variable was made first. What C++ registers the destructors with is found here, before
// libc's.
extern "C" {
int __cxa_atexit(void (*destroy)(void*), void* object, void* library);
int __cxa_atexit(void (*)(void*), void*, void*) { return 0; }
}
