/* The functions through which a kernel of a joint launch (src/model/joint.rs, whose positions of words are repeated here) finds out
 * which run a work-item belongs to: its ids, its parameters, its memory and its slot. Compiled and linked like ids.cl. What is found
 * out once, at the kernel's beginning, is kept in private words, which end up in registers. */

#define KASSAY_INLINE __attribute__((always_inline))

/* The header. */
#define KASSAY_TABLE 6
#define KASSAY_SEGMENTS 7
#define KASSAY_FIRST_SLOT 14

/* A block of parameters. */
#define KASSAY_GROUPS 3
#define KASSAY_OFFSET 8
#define KASSAY_DIMENSIONS 11
#define KASSAY_REPLICATED 1ul
#define KASSAY_NULL 2u

/* A segment, and a slot. */
#define KASSAY_SEGMENT_WORDS 8
#define KASSAY_SLOT_WORDS 8

/* Private words: the group of the run, the run's numbers of groups, its slot and its parameters (as positions in the probe buffer), the
 * start of its memory (low word first), its global offset and its number of dimensions. */
#define RUN_GROUP 0
#define RUN_COUNT 3
#define RUN_SLOT 6
#define RUN_PARAMETERS 7
#define RUN_MEMORY 8
#define RUN_OFFSET 10
#define RUN_DIMENSIONS 13

/* `slot` is where the slot of an ordinary launch lies. */
KASSAY_INLINE void __kassay_joint_enter(__global const uint *probe, __private uint *run, uint slot) {
    uint launched_x = (uint)get_num_groups(0), launched_y = (uint)get_num_groups(1);
    uint number = ((uint)get_group_id(2) * launched_y + (uint)get_group_id(1)) * launched_x + (uint)get_group_id(0);
    uint parameters = 0;
    ulong memory = 0;
    uint segments = probe[KASSAY_SEGMENTS];
    if (segments != 0) {
        __global const uint *table = probe + probe[KASSAY_TABLE];
        uint low = 0;
        for (uint high = segments; high - low > 1;) {
            uint middle = low + (high - low) / 2;
            if (table[middle * KASSAY_SEGMENT_WORDS] <= number) {
                low = middle;
            } else {
                high = middle;
            }
        }
        __global const uint *segment = table + low * KASSAY_SEGMENT_WORDS;
        uint within = number - segment[0];
        uint lane = within / segment[3];
        number = within - lane * segment[3];
        parameters = segment[1];
        slot = probe[KASSAY_FIRST_SLOT] + (segment[2] + lane) * KASSAY_SLOT_WORDS;
        memory = ((ulong)segment[4] | (ulong)segment[5] << 32) + lane * ((ulong)segment[6] | (ulong)segment[7] << 32);
    }
    __global const uint *of = probe + parameters;
    uint x = of[KASSAY_GROUPS], y = of[KASSAY_GROUPS + 1], z = of[KASSAY_GROUPS + 2];
    uint row = number / x;
    uint plane = row / y;
    run[RUN_GROUP] = number - row * x;
    run[RUN_GROUP + 1] = row - plane * y;
    run[RUN_GROUP + 2] = plane;
    run[RUN_COUNT] = x;
    run[RUN_COUNT + 1] = y;
    run[RUN_COUNT + 2] = z;
    run[RUN_SLOT] = slot;
    run[RUN_PARAMETERS] = parameters;
    run[RUN_MEMORY] = (uint)memory;
    run[RUN_MEMORY + 1] = (uint)(memory >> 32);
    run[RUN_OFFSET] = of[KASSAY_OFFSET];
    run[RUN_OFFSET + 1] = of[KASSAY_OFFSET + 1];
    run[RUN_OFFSET + 2] = of[KASSAY_OFFSET + 2];
    run[RUN_DIMENSIONS] = of[KASSAY_DIMENSIONS];
}

KASSAY_INLINE __global uint *__kassay_joint_slot(__global uint *probe, __private const uint *run) {
    return probe + run[RUN_SLOT];
}

KASSAY_INLINE __global uint *__kassay_joint_parameters(__global uint *probe, __private const uint *run) {
    return probe + run[RUN_PARAMETERS];
}

/* How far an argument's buffer lies from the pointer that the kernel got, in bytes; `word` is where the block of parameters has the two
 * words of its address. */
KASSAY_INLINE ulong __kassay_joint_distance(__global const uint *probe, __private const uint *run, uint word) {
    __global const uint *at = probe + run[RUN_PARAMETERS] + word;
    ulong address = (ulong)at[0] | (ulong)at[1] << 32;
    ulong memory = (ulong)run[RUN_MEMORY] | (ulong)run[RUN_MEMORY + 1] << 32;
    return (address & ~3ul) + ((address & KASSAY_REPLICATED) != 0 ? memory : 0);
}

/* Whether it is a null pointer. */
KASSAY_INLINE uint __kassay_joint_null(__global const uint *probe, __private const uint *run, uint word) {
    return probe[run[RUN_PARAMETERS] + word] & KASSAY_NULL;
}

/* OpenCL C's functions; for dimensions out of range they return what OpenCL C 1.2 specifies (section 6.12.1). */

KASSAY_INLINE ulong __kassay_joint_get_group_id(__private const uint *run, uint d) {
    return d == 0 ? run[RUN_GROUP] : d == 1 ? run[RUN_GROUP + 1] : d == 2 ? run[RUN_GROUP + 2] : 0;
}

KASSAY_INLINE ulong __kassay_joint_get_num_groups(__private const uint *run, uint d) {
    return d == 0 ? run[RUN_COUNT] : d == 1 ? run[RUN_COUNT + 1] : d == 2 ? run[RUN_COUNT + 2] : 1;
}

KASSAY_INLINE ulong __kassay_joint_get_global_offset(__private const uint *run, uint d) {
    return d == 0 ? run[RUN_OFFSET] : d == 1 ? run[RUN_OFFSET + 1] : d == 2 ? run[RUN_OFFSET + 2] : 0;
}

KASSAY_INLINE uint __kassay_joint_get_work_dim(__private const uint *run) { return run[RUN_DIMENSIONS]; }

KASSAY_INLINE static ulong kassay_size(__private const uint *run, uint d) { return run[RUN_COUNT + d] * get_local_size(d); }

KASSAY_INLINE ulong __kassay_joint_get_global_size(__private const uint *run, uint d) {
    return d == 0 ? kassay_size(run, 0) : d == 1 ? kassay_size(run, 1) : d == 2 ? kassay_size(run, 2) : 1;
}

/* The global id without the offset. */
KASSAY_INLINE static ulong kassay_id(__private const uint *run, uint d) {
    return run[RUN_GROUP + d] * get_local_size(d) + get_local_id(d);
}

KASSAY_INLINE ulong __kassay_joint_get_global_id(__private const uint *run, uint d) {
    return d == 0   ? kassay_id(run, 0) + run[RUN_OFFSET]
           : d == 1 ? kassay_id(run, 1) + run[RUN_OFFSET + 1]
           : d == 2 ? kassay_id(run, 2) + run[RUN_OFFSET + 2]
                    : 0;
}

KASSAY_INLINE ulong __kassay_joint_get_global_linear_id(__private const uint *run) {
    return (kassay_id(run, 2) * kassay_size(run, 1) + kassay_id(run, 1)) * kassay_size(run, 0) + kassay_id(run, 0);
}
