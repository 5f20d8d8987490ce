//! Rejects launches that cannot fit on a device before anything is allocated.

use kassay_suite::launch::{ArgValue, Launch};

use crate::exec::{DeviceInfo, Fault, RunOptions, formats};

/// Why `launch` cannot run on `device`, with the figures; `None` if no limit that the device states is exceeded.
pub fn refuse(device: &DeviceInfo, launch: &Launch, options: &RunOptions) -> Option<Fault> {
    let probe = options.probe_words.map_or(0, |words| words.saturating_mul(4));
    let (mut total, mut local) = (probe, 0_u64);
    let mut largest = (probe, "the probe buffer".to_owned());
    for (position, arg) in launch.args.iter().enumerate() {
        let len = match arg {
            ArgValue::Value(_) | ArgValue::Sampler { .. } | ArgValue::Same(_) => 0,
            ArgValue::Local(len) => {
                local = local.saturating_add(*len);
                0
            }
            ArgValue::Buffer(bytes) => bytes.len() as u64,
            ArgValue::Image { shape, format, texels } => {
                let coded = match formats::encode(format) {
                    Ok(coded) => coded,
                    Err(e) => {
                        let explanation = format!("argument {position}: {e}");
                        return Some(rejected("CL_INVALID_IMAGE_FORMAT_DESCRIPTOR", explanation));
                    }
                };
                if !device.images {
                    return Some(rejected("CL_INVALID_OPERATION", format!("{} has no images", device.name)));
                }
                let len = texels.len() as u64;
                if formats::size(shape, coded.texel) != Some(len) {
                    let [w, h, d] = formats::region(shape);
                    let explanation = format!(
                        "argument {position}: {len} bytes of texels do not fill an image of {w}x{h}x{d} texels of {} bytes",
                        coded.texel
                    );
                    return Some(rejected("CL_INVALID_IMAGE_SIZE", explanation));
                }
                len
            }
        };
        // If a launch is repeated, its pristine inputs are kept on the device beside the working copies.
        total = total.saturating_add(if options.repeats > 1 { len.saturating_mul(2) } else { len });
        if len > largest.0 {
            largest = (len, format!("argument {position}"));
        }
    }
    if let Some(local) = launch.range.local {
        let items = local.iter().fold(1_u64, |n, size| n.saturating_mul(*size));
        if device.max_work_group_size > 0 && items > device.max_work_group_size {
            let explanation = format!(
                "a work-group of {items} work-items is more than {} takes, {}",
                device.name, device.max_work_group_size
            );
            return Some(rejected("CL_INVALID_WORK_GROUP_SIZE", explanation));
        }
    }
    if device.max_allocation > 0 && largest.0 > device.max_allocation {
        let explanation = format!(
            "{} needs {} bytes, {} gives at most {} in one piece",
            largest.1, largest.0, device.name, device.max_allocation
        );
        return Some(rejected("CL_INVALID_BUFFER_SIZE", explanation));
    }
    if device.global_memory > 0 && total > device.global_memory {
        let explanation =
            format!("the launch needs {total} bytes in all, {} has {}", device.name, device.global_memory);
        return Some(rejected("CL_MEM_OBJECT_ALLOCATION_FAILURE", explanation));
    }
    if device.local_memory > 0 && local > device.local_memory {
        let explanation = format!(
            "the local arguments need {local} bytes, {} has {} in a work-group",
            device.name, device.local_memory
        );
        return Some(rejected("CL_OUT_OF_RESOURCES", explanation));
    }
    None
}

fn rejected(error: &str, explanation: String) -> Fault {
    Fault::Rejected { error: error.to_owned(), explanation }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use kassay_suite::launch::NdRange;

    use super::*;

    fn why(args: Vec<ArgValue>, probe_words: Option<u64>, repeats: u32) -> Option<String> {
        let device = DeviceInfo {
            name: "tiny".into(),
            driver: String::new(),
            kind: "cpu".into(),
            il_versions: Vec::new(),
            platform: String::new(),
            index: None,
            max_work_group_size: 1,
            max_work_item_sizes: [1; 3],
            sub_group_sizes: Vec::new(),
            local_memory: 64,
            global_memory: 1000,
            max_allocation: 600,
            fp16: false,
            fp64: false,
            images: true,
        };
        let range = NdRange { dims: 1, global: [1; 3], local: None, offset: [0; 3] };
        let options = RunOptions { timeout: Duration::from_secs(1), repeats, probe_words, outputs: true };
        match refuse(&device, &Launch::new(range, args), &options) {
            Some(Fault::Rejected { error, explanation }) => Some(format!("{error}: {explanation}")),
            _ => None,
        }
    }

    #[test]
    fn figures_are_given() {
        let buffer = |len| ArgValue::Buffer(Arc::new(vec![0; len]));
        assert_eq!(why(vec![buffer(500), buffer(500)], None, 1), None);
        assert!(why(vec![buffer(601)], None, 1).is_some_and(|w| w.contains("601") && w.contains("600")));
        assert!(why(vec![buffer(500), buffer(501)], None, 1).is_some_and(|w| w.contains("1001")));
        assert!(why(vec![buffer(501)], None, 2).is_some_and(|w| w.contains("1002")));
        assert!(why(vec![ArgValue::Local(65)], None, 1).is_some_and(|w| w.starts_with("CL_OUT_OF_RESOURCES")));
        assert!(why(vec![], Some(u64::MAX), 1).is_some_and(|w| w.contains("the probe buffer")));
    }
}
