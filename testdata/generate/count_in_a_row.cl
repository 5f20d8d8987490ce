// An alarm after seven readings in a row above their limit. The count says nothing of any reading: seven turns of the loop have to go one way.
kernel void count_in_a_row(global const int *readings, global const int *limits, global uchar *alarm, int count) {
    size_t sensor = get_global_id(0);
    int high = 0;
    for (int r = 0; r < count; r++) {
        if (readings[sensor * count + r] > limits[sensor] && limits[sensor] > 1000)
            high++;
        else
            high = 0;
        if (high == 7) { // -> true covered
            alarm[sensor] = 1;
            break;
        }
    }
}
