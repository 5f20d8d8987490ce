// One level of a breadth-first search: every node of the frontier gives its unvisited neighbours a level and a place in
// the next frontier (whose order is left open, so it is kept as a flag per node, not as a list).
//
// Fixture: atomics decide who visits a node first, but no output depends on the order; data-dependent loops and branches.

__kernel void bfs_step(const int nodes, const int depth, __global const int *first_edge, __global const int *edge_to,
                       __global const int *frontier, __global int *next, __global int *level, __global int *found)
{
    const int node = get_global_id(0);

    if (node >= nodes || !frontier[node])
        return;

    int edge = first_edge[node];
    const int end = first_edge[node + 1];
    while (edge < end) {
        const int to = edge_to[edge++];
        if (atomic_cmpxchg(&level[to], -1, depth) == -1) {
            atomic_xchg(&next[to], 1);
            atomic_inc(found);
        }
    }
}
