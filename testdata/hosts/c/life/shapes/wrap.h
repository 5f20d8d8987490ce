/* Included by grid.h from its own folder. */
inline int wrap(int at, int size) { return at < 0 ? at + size : at >= size ? at - size : at; }
