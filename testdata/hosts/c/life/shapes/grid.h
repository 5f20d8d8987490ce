/* Included by kernels.cl through -I: the grid of include_paths.c. */
#ifndef GRID_H
#define GRID_H
#include "wrap.h"
typedef struct { int width, height; } grid;
inline int cell(grid g, int x, int y) { return wrap(y, g.height) * g.width + wrap(x, g.width); }
#endif
