/* Included by kernels.cl through another -I. Which rule holds is a macro of the build options. */
#ifdef HIGH_LIFE
inline int lives(int alive, int around) { return around == 3 || (alive && around == 2) || (!alive && around == 6); }
#else
inline int lives(int alive, int around) { return around == 3 || (alive && around == 2); }
#endif
