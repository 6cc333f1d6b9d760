/** How many there are of something. */
export function counted(times: number, one: string, many: string): string {
  return `${times} ${times === 1 ? one : many}`
}
