import { toBase64 } from '@countersign/protocol/formats/base64'
import type { IdentityId } from '@countersign/protocol/ids'
import type { Database } from '#platform/database/database.ts'
import { readPages } from '#platform/database/pages.ts'
import * as listingStore from './history-store.ts'
import { toExportedApproval } from './approvals/approval.ts'

type ExportedRequest = Awaited<ReturnType<typeof listingStore.listRequests>>[number]

/** Few, because each contains its whole text. */
const pageRequests = 100

/** Reads all requests that an identity has received, newest first. */
export async function* readAllRequests(db: Database, identityId: IdentityId) {
  const pages = readPages<ExportedRequest>(pageRequests, (before, count) =>
    listingStore.listRequests(db, identityId, { before, count }),
  )
  for await (const requests of pages)
    yield requests.map((request) => ({
      requestId: request.requestId,
      clientId: request.clientId,
      payload: request.payload,
      status: request.status,
      publicKey: toBase64(request.publicKey),
      ...(request.signature && { signature: toBase64(request.signature) }),
      signedAs: request.signedAs,
      createdAt: request.createdAt.toISOString(),
      expiresAt: request.expiresAt.toISOString(),
      ...(request.resolvedAt && { resolvedAt: request.resolvedAt.toISOString() }),
      ...toExportedApproval(request),
    }))
}
