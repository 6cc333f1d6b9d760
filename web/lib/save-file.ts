/** Saves a text as a file of the person's. */
export function saveFile(text: string, type: string, name: string): void {
  const file = new Blob([text], { type })
  const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(file), download: name })
  link.click()
  URL.revokeObjectURL(link.href)
}
