import { call } from '../call.ts'

/** Saves everything that the service holds about the person as a file of theirs. */
export async function saveExport(fileName: string): Promise<void> {
  const everything = await call('GET /api/account/export', {})
  const file = new Blob([JSON.stringify(everything, null, 2)], { type: 'application/json' })
  const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(file), download: fileName })
  link.click()
  URL.revokeObjectURL(link.href)
}
