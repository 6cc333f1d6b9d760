/** Returns the words of a repeated option. An empty value says that there is none: without one, the values stay. */
export function optionsOf(option: string, values: string[]): string[] {
  return (values.length === 0 ? [''] : values).flatMap((value) => [option, value])
}
