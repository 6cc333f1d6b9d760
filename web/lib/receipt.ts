import { callForText } from './call.ts'
import { saveFile } from './save-file.ts'

/** Saves the receipt for what the person has signed. */
export async function saveReceipt(requestId: string): Promise<void> {
  const params = { requestId }
  const receipt = await callForText('GET /api/signing/requests/:requestId/receipt', { params })
  saveFile(receipt, 'application/jose', `receipt-${requestId}.jws`)
}
