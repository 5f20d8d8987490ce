// Prices of options by closed form and by a binomial tree ("BlackScholes", "binomialOptions"), with branches on data and without.

float tail(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
    return 0.39894228f * exp(-0.5f * d * d) * k * (0.31938153f + k * (-0.35656378f + k * 1.78147794f));
}

kernel void black_scholes_by_branch(global float *call, global const float *price, global const float *strike,
                                    global const float *years, float rate, float volatility, int n)
{
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
        float root = sqrt(years[i]);
        float d = (log(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / (volatility * root);
        float weight = tail(d);
        if (d > 0.0f)
            weight = 1.0f - weight;
        call[i] = price[i] * weight - strike[i] * exp(-rate * years[i]) * weight;
    }
}

kernel void black_scholes_by_choice(global float *call, global const float *price, global const float *strike,
                                    global const float *years, float rate, float volatility, int n)
{
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
        float root = sqrt(years[i]);
        float d = (log(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / (volatility * root);
        float weight = tail(d);
        int above = d > 0.0f;
        weight = above * (1.0f - weight) + (1 - above) * weight;
        call[i] = price[i] * weight - strike[i] * exp(-rate * years[i]) * weight;
    }
}

kernel void binomial_by_branch(global float *value, global const float *price, global const float *strike, local float *tree,
                               float up, float down, int steps)
{
    int lid = get_local_id(0);
    int option = get_group_id(0);

    for (int i = lid; i <= steps; i += get_local_size(0)) {
        float gain = price[option] * exp(up * (2 * i - steps)) - strike[option];
        if (gain < 0.0f)
            gain = 0.0f;
        tree[i] = gain;
    }
    for (int level = steps; level > 0; level--) {
        barrier(CLK_LOCAL_MEM_FENCE);
        float next = lid < level ? up * tree[lid + 1] + down * tree[lid] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < level)
            tree[lid] = next;
    }
    if (lid == 0)
        value[option] = tree[0];
}

kernel void binomial_by_choice(global float *value, global const float *price, global const float *strike, local float *tree,
                               float up, float down, int steps)
{
    int lid = get_local_id(0);
    int option = get_group_id(0);

    for (int i = lid; i <= steps; i += get_local_size(0))
        tree[i] = fmax(price[option] * exp(up * (2 * i - steps)) - strike[option], 0.0f);
    for (int level = steps; level > 0; level--) {
        barrier(CLK_LOCAL_MEM_FENCE);
        float next = lid < level ? up * tree[lid + 1] + down * tree[lid] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < level)
            tree[lid] = next;
    }
    if (lid == 0)
        value[option] = tree[0];
}
