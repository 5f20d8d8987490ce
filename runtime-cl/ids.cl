/* The functions through which a kernel reads its ids when a launch holds several runs of it, or runs its work-groups
 * in another order. Compiled by the clang of the kernel under test, linked into its woven module, inlined, and
 * optimised away as far as possible.
 *
 * The probe buffer's header holds the number of work-groups of a run in each dimension. Launched work-groups are
 * numbered linearly, dimension 0 fastest. Runs follow each other in the last dimension of the launch, so that the
 * slot is this number divided by the number of groups of a run; the remainder is the number of the virtual
 * work-group, which is looked up in the group map if there is one. A work-item keeps these values in private words,
 * which end up in registers; they are computed once, at the kernel's beginning. Local ids and sizes and the offset
 * are those of the launch. */

#define KASSAY_INLINE __attribute__((always_inline))

/* Words of the header; see `instrument::layout`. */
#define KASSAY_MAPPED 2
#define KASSAY_GROUPS 3
#define KASSAY_MAP 6

/* Private words: the virtual group, the groups of a run, the slot. */
#define KASSAY_GROUP 0
#define KASSAY_COUNT 3
#define KASSAY_SLOT 6

KASSAY_INLINE void __kassay_ids_enter(__global const uint *probe, __private uint *ids) {
    uint x = probe[KASSAY_GROUPS], y = probe[KASSAY_GROUPS + 1], z = probe[KASSAY_GROUPS + 2];
    uint launched_x = (uint)get_num_groups(0), launched_y = (uint)get_num_groups(1);
    uint number = ((uint)get_group_id(2) * launched_y + (uint)get_group_id(1)) * launched_x + (uint)get_group_id(0);
    uint run = x * y * z;
    uint slot = number / run;
    uint group = number - slot * run;
    if (probe[KASSAY_MAPPED]) {
        group = probe[probe[KASSAY_MAP] + group];
    }
    uint row = group / x;
    uint plane = row / y;
    ids[KASSAY_GROUP] = group - row * x;
    ids[KASSAY_GROUP + 1] = row - plane * y;
    ids[KASSAY_GROUP + 2] = plane;
    ids[KASSAY_COUNT] = x;
    ids[KASSAY_COUNT + 1] = y;
    ids[KASSAY_COUNT + 2] = z;
    ids[KASSAY_SLOT] = slot;
}

/* The words of this work-item's slot. */
KASSAY_INLINE __global uint *__kassay_ids_slot(__global uint *probe, __private const uint *ids, uint first, uint words) {
    return probe + first + (size_t)ids[KASSAY_SLOT] * words;
}

/* The offset of this slot's copy of a buffer from the first slot's, in bytes; `stride` is the index in the probe
 * buffer of the two words with the distance. */
KASSAY_INLINE ulong __kassay_ids_offset(__global const uint *probe, __private const uint *ids, uint stride) {
    return (ulong)ids[KASSAY_SLOT] * ((ulong)probe[stride] | (ulong)probe[stride + 1] << 32);
}

/* OpenCL C's functions; for dimensions out of range they return what OpenCL C 1.2 specifies (section 6.12.1). */

KASSAY_INLINE ulong __kassay_ids_get_group_id(__private const uint *ids, uint d) {
    return d == 0 ? ids[KASSAY_GROUP] : d == 1 ? ids[KASSAY_GROUP + 1] : d == 2 ? ids[KASSAY_GROUP + 2] : 0;
}

KASSAY_INLINE ulong __kassay_ids_get_num_groups(__private const uint *ids, uint d) {
    return d == 0 ? ids[KASSAY_COUNT] : d == 1 ? ids[KASSAY_COUNT + 1] : d == 2 ? ids[KASSAY_COUNT + 2] : 1;
}

KASSAY_INLINE static ulong kassay_size(__private const uint *ids, uint d) { return ids[KASSAY_COUNT + d] * get_local_size(d); }

KASSAY_INLINE ulong __kassay_ids_get_global_size(__private const uint *ids, uint d) {
    return d == 0 ? kassay_size(ids, 0) : d == 1 ? kassay_size(ids, 1) : d == 2 ? kassay_size(ids, 2) : 1;
}

/* The global id without the offset. */
KASSAY_INLINE static ulong kassay_id(__private const uint *ids, uint d) {
    return ids[KASSAY_GROUP + d] * get_local_size(d) + get_local_id(d);
}

KASSAY_INLINE ulong __kassay_ids_get_global_id(__private const uint *ids, uint d) {
    return d == 0   ? kassay_id(ids, 0) + get_global_offset(0)
           : d == 1 ? kassay_id(ids, 1) + get_global_offset(1)
           : d == 2 ? kassay_id(ids, 2) + get_global_offset(2)
                    : 0;
}

KASSAY_INLINE ulong __kassay_ids_get_global_linear_id(__private const uint *ids) {
    return (kassay_id(ids, 2) * kassay_size(ids, 1) + kassay_id(ids, 1)) * kassay_size(ids, 0) + kassay_id(ids, 0);
}
