/* Numbers its work-items by a counter of the program and looks a factor up in one of its tables.
 *
 * Fixture for: variables of program scope in global memory, with and without an initialiser, used in a helper, one that is static in
 * a function, one that is reached through its address; each launch begins with what the initialisers say.
 */

global int factors[5] = {1, 10, 100};
global int taken;
global uint2 ends = (uint2)(7, 0x80000000u);

int next(int by)
{
    global static int calls = 5;
    atomic_add(&calls, by);
    return atomic_inc(&taken);
}

__kernel void program_variables(__global int *out, __global int *tickets, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    int ticket = next(2);
    tickets[ticket] += 1;
    global int *row = &factors[1];
    out[i] = i == 0 ? (int)ends.x : row[(i & 3) - 1] * i;
    if (i == n - 1)
        factors[4] = n;
}
