//! User events. While one is waiting for its status, a launch may wait for the program, which a snapshot must not.

use opencl_sys::{CL_EVENT_REFERENCE_COUNT, cl_context, cl_event, cl_int};

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::boundary::shielded;
use crate::driver::{Driver, call};
use crate::shadow::{self, key};

/// The number of user events without a status, so that other events need no lock.
static PENDING: AtomicUsize = AtomicUsize::new(0);

pub unsafe fn create_user_event(driver: &'static Driver, context: cl_context, error: *mut cl_int) -> cl_event {
    let event = call!(driver, clCreateUserEvent(context, error) else std::ptr::null_mut());
    if !event.is_null() {
        shielded(|| {
            let mut state = shadow::state();
            state.user_events.insert(key(event));
            PENDING.store(state.user_events.len(), Ordering::Relaxed);
        });
    }
    event
}

pub unsafe fn set_user_event_status(driver: &'static Driver, event: cl_event, status: cl_int) -> cl_int {
    let result = call!(driver, clSetUserEventStatus(event, status));
    if result == 0 {
        shielded(|| forget(event));
    }
    result
}

pub unsafe fn release(driver: &'static Driver, event: cl_event) -> cl_int {
    if PENDING.load(Ordering::Relaxed) > 0 {
        shielded(|| {
            let is_pending = shadow::state().user_events.contains(&key(event));
            let mut references = 0_u32;
            let to = (&raw mut references).cast();
            // One that never got a status goes with its last reference.
            if is_pending
                && call!(
                    driver,
                    clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, size_of::<u32>(), to, std::ptr::null_mut())
                ) == 0
                && references == 1
            {
                forget(event);
            }
        });
    }
    call!(driver, clReleaseEvent(event))
}

fn forget(event: cl_event) {
    let mut state = shadow::state();
    state.user_events.remove(&key(event));
    PENDING.store(state.user_events.len(), Ordering::Relaxed);
}
