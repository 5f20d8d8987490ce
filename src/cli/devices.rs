//! `kassay devices`: lists the devices that can run kernels, the form of code that they accept, and what is missing.

use std::path::Path;
use std::time::Instant;

use kassay_base::error::{Error, Report, Result};
use kassay_ir::kernel::spirv::translator;
use kassay_results::result::devices::{CodePath, DevicesResult, Driver, Found, Missing, Translator};
use kassay_run::exec::discover::{Icd, Vendors, folder_of, why_not};
use kassay_run::exec::kinds::{DeviceKind, KINDS};
use kassay_run::exec::{DeviceInfo, WorkerOptions, probe_devices};

use super::options::OutputFlags;
use crate::api::executors;

/// Exit code if only the simulator can run kernels: that of a lacking environment.
const NO_DEVICE: u8 = 3;

const QUICKSTART: &str = "run scripts/quickstart, which installs an OpenCL runtime for the CPU without root";

/// List the devices that can run kernels, and what is missing for more
#[derive(Debug, clap::Args)]
pub struct DevicesArgs {
    #[command(flatten)]
    output: OutputFlags,
}

/// Lists the devices. Returns the exit code: 0 if some OpenCL device accepts SPIR-V, otherwise 3.
///
/// # Errors
/// `Environment` if the result cannot be written.
pub fn run(args: &DevicesArgs) -> Result<u8> {
    let start = Instant::now();
    let _claim = args.output.claim()?;
    let vendors = Vendors::discover();
    let (mut found, mut broken) = (Vec::new(), None);
    for kind in KINDS {
        match (kind.devices)(&WorkerOptions::default()) {
            Ok(devices) => found.extend(devices.into_iter().map(|device| (kind, device))),
            // A broken driver is a result here, not a failure of this command.
            Err(Error::Environment(report)) => broken = Some(*report),
            Err(e) => return Err(e),
        }
    }
    let devices: Vec<&DeviceInfo> = found.iter().map(|(_, device)| device).filter(|d| !d.is_simulated()).collect();
    let mut missing = Vec::new();
    if let Some(report) = broken {
        let what = match &report.details {
            Some(details) => format!("{}: {details}", report.what),
            None => report.what,
        };
        missing.push(Missing { what, help: report.help.unwrap_or_else(|| QUICKSTART.to_owned()) });
        missing.extend(broken_drivers(&vendors));
    }
    missing.extend(missing_parts(&vendors, &devices, missing.is_empty()));
    let translators = match translator::find() {
        Ok(translators) => translators,
        Err(e) => {
            let Report { what, help, .. } = e.report().clone();
            missing.push(Missing { what, help: help.unwrap_or_else(|| QUICKSTART.to_owned()) });
            Vec::new()
        }
    };
    let first = found.iter().map(|(_, device)| device).find(|device| device.target().is_some());
    let code = if first.is_some_and(|device| !device.is_simulated()) { 0 } else { NO_DEVICE };
    let result = DevicesResult {
        schema: DevicesResult::SCHEMA.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        kernel: None,
        source: None,
        device: first.map(executors::device),
        seed: 0,
        elapsed_s: start.elapsed().as_secs_f64(),
        devices: found.iter().map(|(kind, device)| listed(kind, device)).collect(),
        drivers: vendors.icds.iter().map(driver).collect(),
        translators: translators.iter().map(listed_translator).collect(),
        missing,
    };
    args.output.deliver(&result, |_| text(&result, &vendors))?;
    Ok(code)
}

fn listed(kind: &DeviceKind, device: &DeviceInfo) -> Found {
    let code = match device.target() {
        Some(target) => target.into(),
        None => CodePath::None,
    };
    Found {
        id: kind.id(device),
        name: device.name.clone(),
        platform: device.platform.clone(),
        driver: device.driver.clone(),
        kind: device.kind.clone(),
        code,
        il_versions: device.il_versions.clone(),
        max_work_group_size: device.max_work_group_size,
        max_work_item_sizes: device.max_work_item_sizes,
        local_memory: device.local_memory,
        global_memory: device.global_memory,
        max_allocation: device.max_allocation,
        fp16: device.fp16,
        fp64: device.fp64,
        images: device.images,
        sub_group_sizes: device.sub_group_sizes.clone(),
    }
}

fn driver(icd: &Icd) -> Driver {
    let library = Path::new(&icd.library);
    Driver {
        file: icd.file.display().to_string(),
        library: icd.library.clone(),
        origin: icd.origin.name().to_owned(),
        present: library.is_absolute().then(|| library.exists()),
    }
}

fn listed_translator(translator: &translator::Translator) -> Translator {
    Translator {
        path: translator.path.display().to_string(),
        version: translator.version(),
        origin: translator.origin.name().to_owned(),
    }
}

/// Returns the drivers that fail even without the others.
fn broken_drivers(vendors: &Vendors) -> Vec<Missing> {
    let fails = |icd: &&Icd| {
        let Ok(folder) = folder_of(std::slice::from_ref(*icd)) else { return false };
        let alone = WorkerOptions { vendors: Some(folder.path().to_owned()), ..WorkerOptions::default() };
        probe_devices(&alone).is_err()
    };
    let missing = |icd: &Icd| Missing {
        what: format!("the driver of {} ({}) fails", icd.file.display(), icd.library),
        help: "install it again or remove the file, or name a folder without it in OCL_ICD_VENDORS".into(),
    };
    // A single driver has already failed on its own.
    if vendors.icds.len() < 2 { Vec::new() } else { vendors.icds.iter().filter(fails).map(missing).collect() }
}

/// Returns the reasons why devices are missing; `general`: includes a general one if no specific cause is known.
fn missing_parts(vendors: &Vendors, devices: &[&DeviceInfo], general: bool) -> Vec<Missing> {
    let mut missing = Vec::new();
    for icd in &vendors.icds {
        if driver(icd).present == Some(false) {
            missing.push(Missing {
                what: format!("{} names {}, which is not there", icd.file.display(), icd.library),
                help: "install that driver again, or remove the file".into(),
            });
        } else if let Some(why) = why_not(icd) {
            missing.push(Missing {
                what: format!("the driver of {} ({}) cannot be loaded: {why}", icd.file.display(), icd.library),
                help: loading_help(&why, std::env::var("LD_LIBRARY_PATH").ok().filter(|folders| !folders.is_empty())),
            });
        }
    }
    if devices.iter().any(|d| d.target().is_some()) || !general {
        return missing;
    }
    let what = match &vendors.user {
        Some((name, value)) if vendors.icds.is_empty() => format!("{name} ({value}) names no driver"),
        _ if vendors.icds.is_empty() => "no OpenCL driver is installed".to_owned(),
        _ if devices.is_empty() => "no OpenCL driver gives a device".to_owned(),
        _ => "no OpenCL device takes SPIR-V".to_owned(),
    };
    let help = match &vendors.user {
        Some((name, _)) => format!("unset {name}, which alone decides about drivers now; or {QUICKSTART}"),
        None => QUICKSTART.to_owned(),
    };
    missing.push(Missing { what, help });
    missing
}

/// What helps against an error of the dynamic loader.
fn loading_help(why: &str, folders: Option<String>) -> String {
    let missing = why.contains("cannot open shared object file");
    match folders {
        Some(folders) if why.contains("undefined symbol") || why.contains("version `") => format!(
            "it finds libraries of another version in LD_LIBRARY_PATH ({folders}): put the driver's own folder first, or unset it"
        ),
        _ if missing => "install the library that is missing; for oneAPI's runtimes, `source setvars.sh` first, which \
                         adds their folders to LD_LIBRARY_PATH"
            .to_owned(),
        _ => "install that driver again, or remove the file".to_owned(),
    }
}

fn text(result: &DevicesResult, vendors: &Vendors) -> String {
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    line("devices".into());
    for device in &result.devices {
        let title = match device.code {
            CodePath::Host => format!("  {:<11} {} {}", device.id, device.name, device.driver),
            _ => {
                format!("  {:<11} {} ({}), {} {}", device.id, device.name, device.kind, device.platform, device.driver)
            }
        };
        line(title.trim_end().to_owned());
        line(format!("              {}", device.code.describe(&device.il_versions)));
        line(format!(
            "              {} in all, {} a buffer, {} local; work-groups up to {}; {}",
            size(device.global_memory),
            size(device.max_allocation),
            size(device.local_memory),
            device.max_work_group_size,
            features(device)
        ));
    }
    line("drivers".into());
    for driver in &result.drivers {
        let absent = if driver.present == Some(false) { " (not there)" } else { "" };
        line(format!("  {:<11} {} -> {}{absent}", driver.origin, driver.file, driver.library));
    }
    if result.drivers.is_empty() {
        match &vendors.user {
            Some((name, value)) => line(format!("  none: {name}={value}")),
            None => {
                let folders: Vec<String> = vendors.folders.iter().map(|f| f.display().to_string()).collect();
                line(format!("  none in {}", folders.join(", ")));
            }
        }
    }
    line("translators of SPIR-V".into());
    for (n, translator) in result.translators.iter().enumerate() {
        let version = translator.version.as_deref().unwrap_or("of unknown version");
        let role = if n == 0 { "" } else { ", where the first crashes" };
        line(format!("  {:<11} {} {version}{role}", translator.origin, translator.path));
    }
    if result.translators.is_empty() {
        line("  none".into());
    }
    for missing in &result.missing {
        line(format!("missing: {}\n  help: {}", missing.what, missing.help));
    }
    out
}

fn features(device: &Found) -> String {
    let all = [(device.fp64, "double"), (device.fp16, "half"), (device.images, "images")];
    let has: Vec<&str> = all.iter().filter(|(has, _)| *has).map(|(_, name)| *name).collect();
    let has = if has.is_empty() { "neither double, half nor images".to_owned() } else { has.join(", ") };
    match &device.sub_group_sizes[..] {
        [] => has,
        sizes => format!("{has}; sub-groups of {}", sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// Formats bytes in KiB, MiB or GiB: the largest that gives at least 1, otherwise KiB.
fn size(bytes: u64) -> String {
    let (unit, shift) = match bytes {
        b if b >= 1 << 30 => ("GiB", 30),
        b if b >= 1 << 20 => ("MiB", 20),
        _ => ("KiB", 10),
    };
    format!("{:.1} {unit}", bytes as f64 / f64::from(1_u32 << shift)).replace(".0 ", " ")
}

#[cfg(test)]
mod tests {
    use kassay_base::external_tools::Origin;

    use super::*;

    #[test]
    fn missing_parts_come_with_help() {
        let icd = |library: &str| Icd { file: "/x/a.icd".into(), library: library.into(), origin: Origin::Kassay };
        let vendors = |icds, user| Vendors { icds, folders: Vec::new(), user };
        let none = missing_parts(&vendors(Vec::new(), None), &[], true);
        assert_eq!(none.len(), 1);
        assert!(none[0].what.contains("no OpenCL driver is installed") && none[0].help.contains("scripts/quickstart"));
        let gone = missing_parts(&vendors(vec![icd("/nonexistent/lib.so")], None), &[], true);
        assert!(gone[0].what.contains("/nonexistent/lib.so") && gone[1].what.contains("gives a device"));
        let user = missing_parts(&vendors(Vec::new(), Some(("OCL_ICD_VENDORS".into(), "/x".into()))), &[], true);
        assert!(user[0].what.contains("OCL_ICD_VENDORS (/x)") && user[0].help.contains("unset OCL_ICD_VENDORS"));
    }

    #[test]
    fn sizes_are_short() {
        assert_eq!(size(256 << 10), "256 KiB");
        assert_eq!(size(3 << 29), "1.5 GiB");
    }
}
