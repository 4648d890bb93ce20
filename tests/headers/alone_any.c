/* A public header needs nothing before it and bears being included twice; in C++ also inside extern "C". */
#ifdef IN_EXTERN_C
extern "C" {
#endif
#include HEADER
#include HEADER
#ifdef IN_EXTERN_C
}
#endif

int main(void) { return 0; }
