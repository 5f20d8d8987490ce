/* One generation of Conway's game of life on a torus or on a plate with dead edges.
 *
 * Fixture for: do-while and for loops nested, continue, a switch with fall-through, two dimensions, uchar data.
 */

#define DEAD 0
#define ALIVE 1

__kernel void game_of_life(__global const uchar *cells, __global uchar *next, int width, int height, int torus)
{
    int x = get_global_id(0);
    int y = get_global_id(1);
    int neighbours = 0;
    int dy = -1;

    do {
        for (int dx = -1; dx <= 1; dx++) {
            int nx = x + dx;
            int ny = y + dy;
            if (dx == 0 && dy == 0)
                continue;
            if (torus) {
                nx = (nx + width) % width;
                ny = (ny + height) % height;
            } else if (nx < 0 || ny < 0 || nx >= width || ny >= height) {
                continue;
            }
            neighbours += cells[ny * width + nx];
        }
        dy++;
    } while (dy <= 1);

    uchar state = DEAD;
    switch (neighbours) {
    case 2:
        state = cells[y * width + x];
        break;
    case 3:
        state = ALIVE;
        break;
    }
    next[y * width + x] = state;
}
