/* Work-item functions on NVIDIA GPUs, from PTX's special registers (PTX ISA, "Special Registers").
 *
 * The OpenCL driver runs one NDRange as several grids if it must (more than 65,535 groups in y or z), so a grid's own ids are not the
 * NDRange's. It says where a grid stands in the environment registers: 0 to 2 hold the first group of this grid, 3 to 5 where its global
 * ids begin (the offset included), 6 to 8 the groups of the whole NDRange, 9 the number of dimensions. */

#include "host.h"

#define REGISTER(NAME, INTRINSIC) uint NAME(void) __asm("llvm.nvvm.read.ptx.sreg." INTRINSIC);
#define THREE(NAME, INTRINSIC) REGISTER(NAME##_x, INTRINSIC ".x") REGISTER(NAME##_y, INTRINSIC ".y") REGISTER(NAME##_z, INTRINSIC ".z")

THREE(kassay_ptx_item, "tid")
THREE(kassay_ptx_items, "ntid")
THREE(kassay_ptx_group, "ctaid")
REGISTER(kassay_ptx_first_group_x, "envreg0")
REGISTER(kassay_ptx_first_group_y, "envreg1")
REGISTER(kassay_ptx_first_group_z, "envreg2")
REGISTER(kassay_ptx_first_id_x, "envreg3")
REGISTER(kassay_ptx_first_id_y, "envreg4")
REGISTER(kassay_ptx_first_id_z, "envreg5")
REGISTER(kassay_ptx_groups_x, "envreg6")
REGISTER(kassay_ptx_groups_y, "envreg7")
REGISTER(kassay_ptx_groups_z, "envreg8")
REGISTER(kassay_ptx_dimensions, "envreg9")

#define BY_DIMENSION(NAME, OF, BEYOND)                                                                                 \
    BUILTIN size_t NAME(uint d) { return d == 0 ? OF(x) : d == 1 ? OF(y) : d == 2 ? OF(z) : BEYOND; }

#define ITEM_OF(D) kassay_ptx_item_##D()
#define ITEMS_OF(D) kassay_ptx_items_##D()
#define GROUP_OF(D) (kassay_ptx_group_##D() + kassay_ptx_first_group_##D())
#define GROUPS_OF(D) kassay_ptx_groups_##D()
#define OFFSET_OF(D) (kassay_ptx_first_id_##D() - kassay_ptx_first_group_##D() * kassay_ptx_items_##D())

BY_DIMENSION(get_local_id, ITEM_OF, 0)
BY_DIMENSION(get_local_size, ITEMS_OF, 1)
BY_DIMENSION(get_enqueued_local_size, ITEMS_OF, 1)
BY_DIMENSION(get_group_id, GROUP_OF, 0)
BY_DIMENSION(get_num_groups, GROUPS_OF, 1)
BY_DIMENSION(get_global_offset, OFFSET_OF, 0)

/* Every group is whole: the driver refuses other launches. */
BUILTIN size_t get_global_size(uint d) { return get_num_groups(d) * get_local_size(d); }

BUILTIN size_t get_global_id(uint d) { return get_group_id(d) * get_local_size(d) + get_local_id(d) + get_global_offset(d); }

BUILTIN uint get_work_dim(void) { return kassay_ptx_dimensions(); }

BUILTIN size_t get_local_linear_id(void) {
    return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
}

INNER size_t unshifted(uint d) { return get_group_id(d) * get_local_size(d) + get_local_id(d); }

BUILTIN size_t get_global_linear_id(void) {
    return (unshifted(2) * get_global_size(1) + unshifted(1)) * get_global_size(0) + unshifted(0);
}

/* Sub-groups are warps: neighbours by local linear id. */

INNER uint items(void) { return (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2)); }

BUILTIN uint get_sub_group_id(void) { return (uint)get_local_linear_id() / SUB_GROUP; }

BUILTIN uint get_sub_group_local_id(void) { return (uint)get_local_linear_id() % SUB_GROUP; }

BUILTIN uint get_sub_group_size(void) {
    uint left = items() - (uint)get_local_linear_id() / SUB_GROUP * SUB_GROUP;
    return left < SUB_GROUP ? left : SUB_GROUP;
}

BUILTIN uint get_max_sub_group_size(void) { return items() < SUB_GROUP ? items() : SUB_GROUP; }

BUILTIN uint get_num_sub_groups(void) { return (items() + SUB_GROUP - 1) / SUB_GROUP; }

BUILTIN uint get_enqueued_num_sub_groups(void) { return get_num_sub_groups(); }
