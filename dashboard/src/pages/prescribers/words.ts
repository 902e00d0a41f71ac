/** Values of a closed list, as a form offers them. */
export function choicesOf(values: readonly string[]) {
  return values.map((value) => ({ value, label: value.replaceAll('_', ' ') }))
}
