//! Lines over steps, bars, and small lines within text.

use maud::{Markup, html};

use super::super::parts::shown;

/// Values in percent over the same steps.
pub struct Series {
    pub name: String,
    /// `None`: not measured at this step.
    pub values: Vec<Option<f64>>,
}

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 200.0;
const LEFT: f64 = 40.0;
const RIGHT: f64 = 120.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 34.0;
/// Series are told apart by dashes as well as by colours, of which there are as many.
const STYLES: usize = 6;

fn height(percent: f64) -> f64 {
    TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - percent.clamp(0.0, 100.0) / 100.0)
}

/// Draws series of percentages. `steps` names what they are over, `axis` all steps together.
pub fn lines(title: &str, axis: &str, steps: &[String], series: &[Series]) -> Markup {
    let across = |n: usize| LEFT + (WIDTH - LEFT - RIGHT) * (n as f64 / (steps.len().max(2) - 1) as f64);
    let mut labels: Vec<(f64, usize)> = (series.iter().enumerate())
        .filter_map(|(n, s)| Some((height((*s.values.iter().rev().flatten().next()?).max(0.0)), n)))
        .collect();
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Labels keep their distance: each is at least a line below the one above it, and none leaves the figure.
    for n in 1..labels.len() {
        labels[n].0 = labels[n].0.max(labels[n - 1].0 + 14.0);
    }
    let mut lowest = HEIGHT - 8.0;
    for label in labels.iter_mut().rev() {
        label.0 = label.0.min(lowest);
        lowest = label.0 - 14.0;
    }
    let every = steps.len().div_ceil(12).max(1);
    html! {
        figure.chart {
            figcaption { (title) }
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(describe(title, steps, series)) {
                @for percent in [0.0, 50.0, 100.0] {
                    @let y = format!("{:.1}", height(percent));
                    line.grid x1=(LEFT) x2=(WIDTH - RIGHT) y1=(y) y2=(y) {}
                    text.tick x=(LEFT - 6.0) y=(y) text-anchor="end" dominant-baseline="middle" { (percent) " %" }
                }
                @for n in (0..steps.len()).step_by(every) {
                    text.tick x=(format!("{:.1}", across(n))) y=(HEIGHT - BOTTOM + 14.0) text-anchor="middle" { (n + 1) }
                }
                text.tick x=((LEFT + WIDTH - RIGHT) / 2.0) y=(HEIGHT - 4.0) text-anchor="middle" { (axis) }
                @for (n, one) in series.iter().enumerate() {
                    @let points: Vec<(f64, f64)> = one.values.iter().enumerate()
                        .filter_map(|(n, value)| Some((across(n), height((*value)?)))).collect();
                    path class={ "series s" (n % STYLES) } d=(path(&points)) {}
                    @if points.len() < 30 {
                        @for (x, y) in &points { circle class={ "dot s" (n % STYLES) } cx=(format!("{x:.1}")) cy=(format!("{y:.1}")) r="2.5" {} }
                    }
                }
                @for (y, n) in &labels {
                    text class={ "label s" (n % STYLES) } x=(WIDTH - RIGHT + 8.0) y=(format!("{y:.1}")) dominant-baseline="middle" { (shown(&series[*n].name)) }
                }
            }
        }
    }
}

fn path(points: &[(f64, f64)]) -> String {
    let step = |(n, (x, y)): (usize, &(f64, f64))| format!("{}{x:.1} {y:.1}", if n == 0 { 'M' } else { 'L' });
    points.iter().enumerate().map(step).collect()
}

/// Says in words where each series begins and ends.
fn describe(title: &str, steps: &[String], series: &[Series]) -> String {
    let ends = series.iter().filter_map(|s| {
        let (first, last) = (s.values.iter().flatten().next()?, s.values.iter().rev().flatten().next()?);
        Some(format!("{} from {first:.0} to {last:.0} percent", shown(&s.name)))
    });
    format!("{title}, {} steps: {}", steps.len(), ends.collect::<Vec<_>>().join("; "))
}

/// A line of percentages that fits into text; nothing for fewer than two values.
pub fn sparkline(what: &str, values: &[f64]) -> Markup {
    let ([first, .., last], n) = (values, values.len()) else { return html! {} };
    let point = |(at, value): (usize, &f64)| {
        (2.0 + 56.0 * at as f64 / (n - 1) as f64, 2.0 + 14.0 * (1.0 - value.clamp(0.0, 100.0) / 100.0))
    };
    let points: Vec<(f64, f64)> = values.iter().enumerate().map(point).collect();
    let end = points[n - 1];
    html! {
        svg.spark viewBox="0 0 60 18" role="img" aria-label=(format!("{what} over {n} results: from {first:.1} to {last:.1} percent")) {
            path.series.s0 d=(path(&points)) {}
            circle.dot.s0 cx=(format!("{:.1}", end.0)) cy=(format!("{:.1}", end.1)) r="2" {}
        }
    }
}

/// Draws parts of a whole as a bar: number, class and name of each. The words are for those who do not see it.
pub fn bars(parts: &[(u64, &str, &str)]) -> Markup {
    let total = parts.iter().fold(0, |sum: u64, part| sum.saturating_add(part.0));
    let words: Vec<String> = parts.iter().filter(|p| p.0 > 0).map(|(n, _, name)| format!("{n} {name}")).collect();
    let mut from = 0.0;
    let mut rects = Vec::new();
    for (n, class, _) in parts.iter().filter(|part| part.0 > 0) {
        let width = 100.0 * *n as f64 / total as f64;
        rects.push((format!("{from:.2}"), format!("{width:.2}"), *class));
        from += width;
    }
    html! {
        svg.stack viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label=(words.join(", ")) {
            title { (words.join(", ")) }
            @for (x, width, class) in &rects { rect class=(class) x=(x) width=(width) height="8" {} }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_equal_series_do_not_cover_each_other() {
        let series: Vec<Series> =
            ["a", "b", "c"].map(|name| Series { name: name.into(), values: vec![Some(100.0); 2] }).into();
        let drawn = lines("t", "x", &["1".into(), "2".into()], &series).into_string();
        let mut heights: Vec<&str> =
            drawn.split("class=\"label").skip(1).map(|l| l.split("y=\"").nth(1).unwrap()).collect();
        heights = heights.iter().map(|h| h.split('"').next().unwrap()).collect();
        assert_eq!(heights, ["12.0", "26.0", "40.0"]);
    }

    #[test]
    fn figures_of_nothing_are_drawn() {
        assert!(lines("t", "x", &[], &[]).into_string().contains("<svg"));
        assert_eq!(sparkline("x", &[1.0]).into_string(), "");
        assert!(bars(&[(0, "good", "killed")]).into_string().contains("<svg"));
    }
}
