/* Device functions called by coverage probes. Compiled by the clang of the kernel under test, linked into its woven
 * module, inlined, and optimised away as far as possible.
 *
 * Each work-item keeps its bits in private words, which end up in registers. At the end of the kernel they are
 * flushed into the slot of its work-group (or, if numbers of work-items are wanted, into its own slot), and only if
 * they are new there: a flush without new bits costs a single read. `KASSAY_HEADER` words precede the first slot;
 * `stride` is the length of a slot in words. */

#define KASSAY_HEADER 16
#define KASSAY_INLINE __attribute__((always_inline))

/* The linear number of this work-item's group, as returned by OpenCL 2.0's get_group_linear_id. */
KASSAY_INLINE static size_t kassay_group(void) {
    return (get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + get_group_id(0);
}

KASSAY_INLINE static size_t kassay_local_item(void) {
    return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
}

/* Sets bits of a private word. */
KASSAY_INLINE void __kassay_cover(__private uint *words, uint word, uint mask) { words[word] |= mask; }

/* The state of a loop is one more than the number of iterations begun since it was last entered, and 0 before it is
 * entered. A plain counter is an induction variable, which compilers merge with the loop's own, so that no code
 * remains in the loop; a class is derived from it when the loop is entered again and at the kernel's end. (After
 * 2^32 iterations it would wrap around.) */

/* The bits of the classes zero, one and many, starting at the lowest. */
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

/* One slot per work-group: the bits that any item of the group has set. A single `if` around the atomic, because
 * vectorisers test each lane for every atomic, and because a loop, which they test as a whole, makes them give up on
 * small kernels. */
KASSAY_INLINE void __kassay_flush_group(__global uint *probe, uint stride, uint word, uint bits) {
    __global uint *slot = probe + KASSAY_HEADER + kassay_group() * stride + word;
    if (bits & ~*slot) {
        atomic_or(slot, bits);
    }
}

/* The same for GPUs: an atomic whose result is unused does not wait for memory, but a read does. */
KASSAY_INLINE void __kassay_flush_group_unread(__global uint *probe, uint stride, uint word, uint bits) {
    atomic_or(probe + KASSAY_HEADER + kassay_group() * stride + word, bits);
}

/* Words of the header that hosts of a user's own and their modules share; see `instrument::layout`. */
#define KASSAY_GROUPS 3
#define KASSAY_LENGTH 7
#define KASSAY_LOCAL 8
#define KASSAY_GLOBAL 11
#define KASSAY_MAGIC 14
#define KASSAY_ID 15
#define KASSAY_MAGIC_NUMBER 0x5953414bu

/* As many slots as the buffer has room for, whose length in words the host wrote into the header: one per work-group,
 * and all groups beyond these share the last one. So no launch writes outside the buffer. Without room for a slot
 * nothing is recorded. */
KASSAY_INLINE void __kassay_flush_bounded(__global uint *probe, uint stride, uint word, uint bits) {
    uint length = probe[KASSAY_LENGTH];
    uint slots = length < KASSAY_HEADER ? 0 : (length - KASSAY_HEADER) / stride;
    if (slots == 0) {
        return;
    }
    size_t group = kassay_group();
    size_t last = slots - 1;
    __global uint *slot = probe + KASSAY_HEADER + (group < last ? group : last) * stride + word;
    if (bits & ~*slot) {
        atomic_or(slot, bits);
    }
}

KASSAY_INLINE static void kassay_stamp_dimension(__global uint *probe, uint d) {
    probe[KASSAY_GROUPS + d] = (uint)get_num_groups(d);
    probe[KASSAY_LOCAL + d] = (uint)get_local_size(d);
    probe[KASSAY_GLOBAL + d] = (uint)get_global_size(d);
}

/* The first work-item of the launch says which module ran, over which range. */
KASSAY_INLINE void __kassay_stamp(__global uint *probe, uint id) {
    if (kassay_group() == 0 && kassay_local_item() == 0) {
        kassay_stamp_dimension(probe, 0);
        kassay_stamp_dimension(probe, 1);
        kassay_stamp_dimension(probe, 2);
        probe[KASSAY_ID] = id;
        probe[KASSAY_MAGIC] = KASSAY_MAGIC_NUMBER;
    }
}

/* The size of the first group in a dimension, which no other exceeds. (OpenCL C 1.2 has no function for the enqueued
 * size.) */
KASSAY_INLINE static size_t kassay_whole(uint d) {
    size_t group = get_group_id(d);
    return group == 0 ? get_local_size(d) : (get_global_id(d) - get_global_offset(d) - get_local_id(d)) / group;
}

/* One slot per work-item; the slots of a group are adjacent. Groups at the end of a dimension may have fewer items
 * than slots. */
KASSAY_INLINE void __kassay_flush_item(__global uint *probe, uint stride, uint word, uint bits) {
    size_t group_size = kassay_whole(0) * kassay_whole(1) * kassay_whole(2);
    probe[KASSAY_HEADER + (kassay_group() * group_size + kassay_local_item()) * stride + word] = bits;
}

/* The same in a buffer whose length in words the host wrote into the header: work-items without a slot record
 * nothing, so that no launch writes outside the buffer. */
KASSAY_INLINE void __kassay_flush_bounded_item(__global uint *probe, uint stride, uint word, uint bits) {
    uint length = probe[KASSAY_LENGTH];
    uint slots = length < KASSAY_HEADER ? 0 : (length - KASSAY_HEADER) / stride;
    size_t group_size = kassay_whole(0) * kassay_whole(1) * kassay_whole(2);
    size_t slot = kassay_group() * group_size + kassay_local_item();
    if (slot < slots) {
        probe[KASSAY_HEADER + slot * stride + word] = bits;
    }
}
