/* Water balance of soil columns, day by day: rain and snow, a crop with growth stages, irrigation, layers that drain.
 *
 * Each work-item runs one column; columns differ in what they start with and in how steep they are. All amounts are whole
 * tenths of a millimetre, so results are exact. Fixture for timing: one long kernel with many decisions (if, else-if,
 * switch, ternary, &&, ||), nested loops of every kind, private arrays and several outputs.
 */

#define MAX_LAYERS 8
#define STAGE_BARE 0
#define STAGE_YOUNG 1
#define STAGE_FULL 2
#define STAGE_RIPE 3

#define POLICY_NEVER 0
#define POLICY_FIXED 1
#define POLICY_DEMAND 2

__kernel void big_statement(__global const int *rain, __global const int *temperature, int days,
                            __global const int *capacity, __global const int *wilting, int layers,
                            __global const int *slope, int columns, int policy, int sowing_day,
                            __global int *water, __global int4 *balance, __global int *stress, __global int *final_stage,
                            __global float *efficiency)
{
    int column = get_global_id(0);
    if (column >= columns || layers > MAX_LAYERS)
        return;

    int profile[MAX_LAYERS];
    for (int l = 0; l < layers; l++)
        profile[l] = water[column * layers + l];

    int snow = 0;
    int stage = STAGE_BARE;
    int heat = 0;
    int root_layers = 0;
    int stress_days = 0;
    int dry_spell = 0;
    int runoff_sum = 0;
    int drainage_sum = 0;
    int evaporation_sum = 0;
    int irrigation_sum = 0;
    int transpiration_sum = 0;

    for (int day = 0; day < days; day++) {
        int supply = 0;
        int warmth = temperature[day];

        /* Rain, snow and thaw. */
        if (warmth <= 0) {
            snow += rain[day];
        } else {
            supply = rain[day];
            if (snow > 0) {
                int melt = warmth * 4;
                if (melt > snow)
                    melt = snow;
                snow -= melt;
                supply += melt;
            }
        }
        dry_spell = supply == 0 ? dry_spell + 1 : 0;

        /* The crop grows by the sum of warmth. */
        if (day == sowing_day) {
            stage = STAGE_YOUNG;
            heat = 0;
            root_layers = 1;
        } else if (stage != STAGE_BARE && warmth > 5) {
            heat += warmth - 5;
        }
        int factor;
        switch (stage) {
        case STAGE_YOUNG:
            factor = 6;
            if (heat > 60) {
                stage = STAGE_FULL;
                root_layers = min(layers, 3);
            }
            break;
        case STAGE_FULL:
            factor = 12;
            if (heat > 200)
                stage = STAGE_RIPE;
            break;
        case STAGE_RIPE:
            factor = 4;
            break;
        default:
            factor = 2;
        }

        /* Irrigation. */
        int irrigation = 0;
        if (policy == POLICY_FIXED) {
            if (day % 7 == 3)
                irrigation = 120;
        } else if (policy == POLICY_DEMAND && (stage == STAGE_YOUNG || stage == STAGE_FULL)) {
            int missing = 0;
            int l = 0;
            while (l < root_layers) {
                missing += capacity[l] - profile[l] > 0 ? capacity[l] - profile[l] : 0;
                l++;
            }
            if (missing > 150 && dry_spell > 1)
                irrigation = min(missing / 2, 200);
        }
        irrigation_sum += irrigation;
        supply += irrigation;

        /* What the slope sheds, then infiltration layer by layer. */
        int shed = 0;
        if (slope[column] > 0 && supply > 100) {
            shed = (supply - 100) * slope[column] / 16;
            if (shed > supply)
                shed = supply;
        }
        runoff_sum += shed;
        int flow = supply - shed;
        for (int l = 0; l < layers; l++) {
            profile[l] += flow;
            flow = 0;
            if (profile[l] > capacity[l]) {
                int surplus = profile[l] - capacity[l];
                flow = surplus > 40 ? surplus - surplus / 8 : surplus;
                profile[l] -= flow;
            }
        }
        drainage_sum += flow;

        /* Evaporation from the top, transpiration from the roots. */
        int demand = warmth > 0 ? warmth * factor / 8 : 0;
        if (stage == STAGE_BARE || stage == STAGE_RIPE) {
            int from_top = min(demand, max(profile[0] - wilting[0] / 2, 0));
            profile[0] -= from_top;
            evaporation_sum += from_top;
        } else {
            int open = demand;
            for (int l = 0; l < root_layers; l++) {
                int usable = profile[l] - wilting[l];
                if (usable <= 0)
                    continue;
                int taken = usable < open ? usable : open;
                profile[l] -= taken;
                open -= taken;
                transpiration_sum += taken;
                if (open == 0)
                    break;
            }
            if (open * 4 > demand)
                stress_days++;
            else if (stress_days > 0 && open == 0 && day % 2 == 0)
                stress_days--;
        }
        if (stress_days >= 20) {
            stage = STAGE_BARE;
            stress_days = 0;
            root_layers = 0;
        }

        /* Water creeps up from a moist layer into a much drier one, at most three times a day. */
        int creeps = 0;
        bool moved;
        do {
            moved = false;
            for (int l = layers - 1; l > 0; l--) {
                int difference = profile[l] - profile[l - 1];
                if (difference > 64 && profile[l - 1] < capacity[l - 1]) {
                    profile[l] -= difference / 16;
                    profile[l - 1] += difference / 16;
                    moved = true;
                }
            }
            creeps++;
        } while (moved && creeps < 3);
    }

    int used = transpiration_sum;
    int given = irrigation_sum;
    for (int day = 0; day < days; day++)
        given += rain[day];
    for (int l = 0; l < layers; l++)
        water[column * layers + l] = profile[l];
    balance[column] = (int4)(runoff_sum, drainage_sum, evaporation_sum, irrigation_sum);
    stress[column] = stress_days;
    final_stage[column] = stage;
    efficiency[column] = given > 0 ? (float)used / (float)given : 0.0f;
}
