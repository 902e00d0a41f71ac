// Removes positions from submissions and findings at an erasure. Signed results can't be changed, so no factor may put
// a position into its evidence; distances are allowed.

/** Members that hold a position or part of one, under our names and the names that libraries use. */
const POSITIONS: ReadonlySet<string> = new Set([
  'gps',
  'loss_location',
  'location',
  'position',
  'coordinates',
  'lat',
  'lng',
  'lon',
  'latitude',
  'longitude',
])

/** The value without members that hold a position, at any depth. */
export function withoutCoordinates(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutCoordinates)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([name]) => !POSITIONS.has(name.toLowerCase()))
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutCoordinates(member)]))
}
