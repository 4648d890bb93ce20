/* A public header needs nothing before it and bears being included twice. */
#include HEADER
#include HEADER

int main(void) { return 0; }
