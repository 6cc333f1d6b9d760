import { randomBytes, randomUUID } from 'node:crypto'
import { approvalMessage } from '@countersign/protocol/formats/signing/approval'
import { writeCanonicalJson } from '@countersign/protocol/formats/signing/canonical-json'
import type { IdentityId } from '@countersign/protocol/ids'
import { transaction } from '../../../../server/platform/database/database.ts'
import { newSigningPair } from '../../../../server/testing/signer.ts'
import { defineLie } from '../../lie.ts'
import { bytesOf } from '../../rows.ts'

/**
 * Invents a member who approves a request that another one has signed for the organization: with a key of the operator,
 * a passkey that was never used, and a statement that says what the request is.
 */
export const memberInvented = defineLie<{ requestId: string; payload: string }>({
  rows: ({ db, now }, { requestId, payload }) =>
    transaction(db, async (tx) => {
      const given = tx.selectFrom('signing_organization_signature').where('request_id', '=', requestId)
      const signed = await given.selectAll().executeTakeFirstOrThrow()
      const [identityId, memberId, pair] = [randomUUID() as IdentityId, randomUUID(), newSigningPair()]
      const { organization, ...stated } = JSON.parse(signed.approval_statement ?? '')
      const of = { identityId, handle: 'mallory', role: 'approve', publicKey: pair.publicKey }
      const statement = { ...stated, ...of, organization: { ...organization, memberId } }
      const presence = randomBytes(32)
      await tx
        .insertInto('signing_organization_signature')
        .values({
          ...{ ...signed, identity_id: identityId, member_id: memberId, role: 'approve', signed_handle: 'mallory' },
          public_key: bytesOf(pair.publicKey),
          signature: bytesOf(pair.sign(payload)),
          approval_statement: writeCanonicalJson(statement),
          approval_signature: bytesOf(pair.signBytes(approvalMessage(statement, presence))),
          approval_presence: presence,
        })
        .execute()
      await tx
        .updateTable('signing_organization_request')
        .set({ status: 'signed', resolved_at: now })
        .where('request_id', '=', requestId)
        .execute()
    }),
})
