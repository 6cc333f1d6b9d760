import { callText } from './api/call.ts'

/** Saves a text as a file on the user's device. */
export function downloadFile(text: string, type: string, name: string): void {
  saveFile(new Blob([text], { type }), name)
}

/** Saves a file on the user's device. */
export function saveFile(file: Blob, name: string): void {
  const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(file), download: name })
  link.click()
  URL.revokeObjectURL(link.href)
}

/** Saves the receipt of a signature of the user. */
export async function downloadReceipt(requestId: string): Promise<void> {
  const params = { requestId }
  saveReceipt(requestId, await callText('GET /api/signing/requests/:requestId/receipt', { params }))
}

/** Saves a receipt that the page has. */
export function saveReceipt(requestId: string, receipt: string): void {
  downloadFile(receipt, 'application/jose', `receipt-${requestId}.jws`)
}
