// game_of_life.cl in CUDA, each line in its place.




#define DEAD 0
#define ALIVE 1

__global__ void game_of_life(const unsigned char *cells, unsigned char *next, int width, int height, int torus)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
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

    unsigned char state = DEAD;
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
