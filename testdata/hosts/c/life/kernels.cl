/* The kernel of include_paths.c. */
#include <grid.h>
#include "rules.h"

kernel void generation(global const uchar *now, global uchar *next, grid g)
{
    int x = get_global_id(0), y = get_global_id(1), around = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy) around += now[cell(g, x + dx, y + dy)];
    next[cell(g, x, y)] = lives(now[cell(g, x, y)], around);
}
