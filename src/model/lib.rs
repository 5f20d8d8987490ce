#![doc = include_str!("README.md")]

pub mod address_space;
pub mod code;
pub mod condition;
pub mod demangle;
pub mod extent;
pub mod image_buffer;
pub mod interface;
pub mod joint;
pub mod kernel_files;
pub mod native;
pub mod options;
pub mod printf_format;
pub mod ptx;
pub mod sub_groups;
pub mod words;
