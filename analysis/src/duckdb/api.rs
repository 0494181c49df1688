//! The functions of DuckDB's C interface that are used here, loaded from its library at run time
//! (<https://duckdb.org/docs/stable/clients/c/api>).

#![allow(unsafe_code, reason = "a library that is not linked has no safe interface")]

use std::ffi::{c_char, c_int, c_void};
use std::path::Path;

use libloading::Library;

/// A pointer to one of DuckDB's own objects.
pub(super) type Handle = *mut c_void;

/// What a call returns if it succeeds.
pub(super) const SUCCESS: c_int = 0;

/// A result, with fields that only DuckDB uses.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct RawResult {
    deprecated: [u64; 3],
    deprecated_columns: Handle,
    deprecated_message: Handle,
    internal: Handle,
}

impl RawResult {
    pub(super) const EMPTY: Self = Self {
        deprecated: [0; 3],
        deprecated_columns: std::ptr::null_mut(),
        deprecated_message: std::ptr::null_mut(),
        internal: std::ptr::null_mut(),
    };
}

/// The position of a list's items in its child vector.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct ListEntry {
    pub(super) offset: u64,
    pub(super) length: u64,
}

/// A text in a vector: up to [`INLINE`](Self::INLINE) bytes in place, otherwise four bytes and a pointer.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct RawText {
    pub(super) length: u32,
    pub(super) prefix: [u8; 4],
    pub(super) rest: [u8; 8],
}

impl RawText {
    /// The most bytes that are stored in place.
    pub(super) const INLINE: u32 = 12;
}

/// What DuckDB calls to compute a scalar function for the rows of a chunk: the call, its arguments and its result.
pub(super) type ScalarCallback = unsafe extern "C" fn(Handle, Handle, Handle);

macro_rules! functions {
    ($($name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions, by their names without `duckdb_`.
        pub(crate) struct Api {
            $(pub(super) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
            /// Keeps the functions loaded.
            _library: Library,
        }

        impl Api {
            /// Loads a library and finds all functions in it.
            pub(super) fn load(path: &Path) -> Result<Self, libloading::Error> {
                // SAFETY: DuckDB's initialisers may run on any thread; the types below are those of its header.
                unsafe {
                    let library = Library::new(path)?;
                    Ok(Self {
                        $($name: *library.get(concat!("duckdb_", stringify!($name), "\0").as_bytes())?,)*
                        _library: library,
                    })
                }
            }
        }
    };
}

functions! {
    library_version() -> *const c_char;
    free(Handle);

    create_config(*mut Handle) -> c_int;
    set_config(Handle, *const c_char, *const c_char) -> c_int;
    destroy_config(*mut Handle);
    open_ext(*const c_char, *mut Handle, Handle, *mut *mut c_char) -> c_int;
    close(*mut Handle);
    connect(Handle, *mut Handle) -> c_int;
    disconnect(*mut Handle);

    query(Handle, *const c_char, *mut RawResult) -> c_int;
    extract_statements(Handle, *const c_char, *mut Handle) -> u64;
    extract_statements_error(Handle) -> *const c_char;
    destroy_extracted(*mut Handle);
    prepare(Handle, *const c_char, *mut Handle) -> c_int;
    prepare_error(Handle) -> *const c_char;
    prepared_statement_column_count(Handle) -> u64;
    prepared_statement_column_name(Handle, u64) -> *mut c_char;
    prepared_statement_column_logical_type(Handle, u64) -> Handle;
    execute_prepared(Handle, *mut RawResult) -> c_int;
    destroy_prepare(*mut Handle);

    result_error(*mut RawResult) -> *const c_char;
    fetch_chunk(RawResult) -> Handle;
    destroy_result(*mut RawResult);
    data_chunk_get_size(Handle) -> u64;
    data_chunk_get_vector(Handle, u64) -> Handle;
    destroy_data_chunk(*mut Handle);

    create_logical_type(c_int) -> Handle;
    create_list_type(Handle) -> Handle;
    get_type_id(Handle) -> c_int;
    list_type_child_type(Handle) -> Handle;
    destroy_logical_type(*mut Handle);

    vector_get_data(Handle) -> Handle;
    vector_get_validity(Handle) -> *mut u64;
    vector_ensure_validity_writable(Handle);
    vector_assign_string_element_len(Handle, u64, *const c_char, u64);
    validity_set_row_invalid(*mut u64, u64);
    list_vector_get_child(Handle) -> Handle;
    list_vector_get_size(Handle) -> u64;

    create_scalar_function() -> Handle;
    destroy_scalar_function(*mut Handle);
    scalar_function_set_name(Handle, *const c_char);
    scalar_function_add_parameter(Handle, Handle);
    scalar_function_set_return_type(Handle, Handle);
    scalar_function_set_extra_info(Handle, Handle, Option<unsafe extern "C" fn(Handle)>);
    scalar_function_set_function(Handle, ScalarCallback);
    scalar_function_get_extra_info(Handle) -> Handle;
    scalar_function_set_error(Handle, *const c_char);
    create_scalar_function_set(*const c_char) -> Handle;
    add_scalar_function_to_set(Handle, Handle) -> c_int;
    register_scalar_function_set(Handle, Handle) -> c_int;
    destroy_scalar_function_set(*mut Handle);

    appender_create(Handle, *const c_char, *const c_char, *mut Handle) -> c_int;
    append_null(Handle) -> c_int;
    append_int64(Handle, i64) -> c_int;
    append_double(Handle, f64) -> c_int;
    append_varchar_length(Handle, *const c_char, u64) -> c_int;
    appender_end_row(Handle) -> c_int;
    appender_error(Handle) -> *const c_char;
    appender_destroy(*mut Handle) -> c_int;
}
