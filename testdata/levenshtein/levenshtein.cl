/* Edit distance of pairs of words, one work-group a pair.
 *
 * The table is filled by anti-diagonals: work-item i owns row i; three diagonals are kept in local memory. Words are stored
 * WIDTH bytes apart; a work-group needs at least as many work-items as the first word has letters, plus one. Fixture for:
 * a loop with a data-dependent trip count that is uniform in a group, a barrier in it, nested ternaries, else-if chains.
 */

#define WIDTH 16

__kernel void levenshtein(__global const char *first, __global const char *second, __global const int *lengths,
                          __global int *distance, int limit)
{
    __local int diagonal[3][WIDTH + 1];
    int pair = get_group_id(0);
    int i = get_local_id(0);
    int rows = lengths[2 * pair];
    int columns = lengths[2 * pair + 1];
    __global const char *a = first + pair * WIDTH;
    __global const char *b = second + pair * WIDTH;

    for (int d = 0; d <= rows + columns; d++) {
        int j = d - i;
        if (i <= rows && j >= 0 && j <= columns) {
            __local int *now = diagonal[d % 3];
            __local const int *before = diagonal[(d + 2) % 3];
            __local const int *before_that = diagonal[(d + 1) % 3];
            int cost;
            if (i == 0) {
                cost = j;
            } else if (j == 0) {
                cost = i;
            } else {
                int change = before_that[i - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
                int remove = before[i - 1] + 1;
                int insert = before[i] + 1;
                cost = change < remove ? (change < insert ? change : insert) : min(remove, insert);
            }
            now[i] = cost;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    if (i == rows) {
        int result = diagonal[(rows + columns) % 3][rows];
        if (limit > 0 && result > limit)
            result = -1;
        distance[pair] = result;
    }
}
