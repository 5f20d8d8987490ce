/* What coverage probes call, on the device. Compiled by the clang of the kernel under test, linked into its woven
 * module, inlined, and optimised away as far as possible.
 *
 * Each work-item keeps its bits in private words, which end up in registers. At the end of the kernel they are flushed
 * into the slot of its work-group (or its own slot, where numbers of work-items are wanted), and only if they are new there:
 * a flush that finds nothing new costs a read. `KASSAY_HEADER` words stand before the first slot; `stride` is a slot's length
 * in words. */

#define KASSAY_HEADER 16
#define KASSAY_INLINE __attribute__((always_inline))

/* The linear number of this work-item's group, as OpenCL 2.0's get_group_linear_id has it. */
KASSAY_INLINE static size_t kassay_group(void) {
    return (get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + get_group_id(0);
}

KASSAY_INLINE static size_t kassay_local_item(void) {
    return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
}

/* Sets bits of a private word. */
KASSAY_INLINE void __kassay_cover(__private uint *words, uint word, uint mask) { words[word] |= mask; }

/* The state of a loop is one more than the number of bodies begun since it was last entered, and 0 before that. A plain
 * counter is an induction variable, which compilers replace by the loop's own, so that nothing is left in the loop; a
 * class is read from it when the loop is entered again and at the kernel's end. (After 2^32 bodies in one entry it would
 * start anew.) */

/* The bits of the classes zero, one and many, from the lowest. */
KASSAY_INLINE static uint kassay_loop_class(uint state) {
    return (1u << (state > 3 ? 3 : state)) >> 1;
}

KASSAY_INLINE void __kassay_loop_enter(__private uint *words, uint word, uint shift, __private uint *state) {
    words[word] |= kassay_loop_class(*state) << shift;
    *state = 1;
}

KASSAY_INLINE void __kassay_loop_iterate(__private uint *state) { *state += 1; }

KASSAY_INLINE void __kassay_loop_end(__private uint *words, uint word, uint shift, __private uint *state) {
    words[word] |= kassay_loop_class(*state) << shift;
}

/* One slot per work-group: which bits some item of the group has set. Nothing but one `if` around the atomic: vectorisers test each
 * lane for every atomic that stands there, and a loop, which they test as a whole, makes them give up on small kernels. */
KASSAY_INLINE void __kassay_flush_group(__global uint *probe, uint stride, uint word, uint bits) {
    __global uint *slot = probe + KASSAY_HEADER + kassay_group() * stride + word;
    if (bits & ~*slot) {
        atomic_or(slot, bits);
    }
}

/* The size of the first group of a dimension, which no other exceeds. (OpenCL C 1.2 cannot ask for what was enqueued.) */
KASSAY_INLINE static size_t kassay_whole(uint d) {
    size_t group = get_group_id(d);
    return group == 0 ? get_local_size(d) : (get_global_id(d) - get_global_offset(d) - get_local_id(d)) / group;
}

/* One slot per work-item, those of a group together; groups at the end of a dimension may have fewer items than slots. */
KASSAY_INLINE void __kassay_flush_item(__global uint *probe, uint stride, uint word, uint bits) {
    size_t group_size = kassay_whole(0) * kassay_whole(1) * kassay_whole(2);
    probe[KASSAY_HEADER + (kassay_group() * group_size + kassay_local_item()) * stride + word] = bits;
}
