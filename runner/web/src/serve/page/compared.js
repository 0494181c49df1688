// The addresses of comparisons.

// As many as there are colours.
export const MAX_COMPARED = 8;

const query = (paths) => new URLSearchParams(paths.map((path) => ["run", path]));

export const compareAddress = (paths) => `/compare?${query(paths)}`;

// The runs in the page's address.
export const comparedPaths = () => new URLSearchParams(location.search).getAll("run");
