/* Work-item functions, and those that identify sub-groups (OpenCL C 3.0, 6.15.1 and 6.15.19). Dimensions out of range give the values
 * specified there. */

#include "host.h"

#define BY_DIMENSION(NAME, PLACE, BEYOND)                                                                              \
    BUILTIN size_t NAME(uint d) { return d < 3 ? PLACE[d] : BEYOND; }

BY_DIMENSION(get_global_id, ITEM->global_id, 0)
BY_DIMENSION(get_local_id, ITEM->local_id, 0)
BY_DIMENSION(get_group_id, GROUP->group_id, 0)
BY_DIMENSION(get_global_offset, GROUP->offset, 0)
BY_DIMENSION(get_global_size, GROUP->global_size, 1)
BY_DIMENSION(get_local_size, GROUP->local_size, 1)
BY_DIMENSION(get_enqueued_local_size, GROUP->enqueued_local_size, 1)
BY_DIMENSION(get_num_groups, GROUP->groups, 1)

BUILTIN uint get_work_dim(void) { return (uint)GROUP->dimensions; }

BUILTIN size_t get_local_linear_id(void) { return ITEM->local_linear_id; }

BUILTIN size_t get_global_linear_id(void) {
    __private const struct kassay_item *item = ITEM;
    __private const struct kassay_group *group = item->group;
    ulong z = item->global_id[2] - group->offset[2];
    ulong y = item->global_id[1] - group->offset[1];
    ulong x = item->global_id[0] - group->offset[0];
    return (z * group->global_size[1] + y) * group->global_size[0] + x;
}

/* Sub-groups: neighbours by local linear id. */

INNER uint items(__private const ulong *size) { return (uint)(size[0] * size[1] * size[2]); }

INNER uint parts(uint all) { return (all + SUB_GROUP - 1) / SUB_GROUP; }

BUILTIN uint get_sub_group_id(void) { return (uint)ITEM->local_linear_id / SUB_GROUP; }

BUILTIN uint get_sub_group_local_id(void) { return (uint)ITEM->local_linear_id % SUB_GROUP; }

BUILTIN uint get_sub_group_size(void) {
    uint before = (uint)ITEM->local_linear_id / SUB_GROUP * SUB_GROUP;
    uint left = items(GROUP->local_size) - before;
    return left < SUB_GROUP ? left : SUB_GROUP;
}

BUILTIN uint get_max_sub_group_size(void) {
    uint all = items(GROUP->enqueued_local_size);
    return all < SUB_GROUP ? all : SUB_GROUP;
}

BUILTIN uint get_num_sub_groups(void) { return parts(items(GROUP->local_size)); }

BUILTIN uint get_enqueued_num_sub_groups(void) { return parts(items(GROUP->enqueued_local_size)); }
