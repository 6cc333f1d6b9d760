import type { OfferedPicture } from '@countersign/protocol/organizations/pictures'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { type MemberContext, requireMember } from '#organizations/membership/access.ts'
import type { Member } from '#organizations/membership/member.ts'
import type { Config } from '#platform/config/config.ts'
import type { Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import {
  isOfThisService,
  isPictureUrl,
  offerPicture,
  pictureIdOf,
  pictureUrl,
  removePicture,
  renderUpload,
  usePicture,
} from '#platform/pictures/picture.ts'
import type { Workshop } from '#platform/pictures/workshop.ts'
import { defineErrors } from '#platform/api-error.ts'

const errors = defineErrors({
  invalid_request: [400, 'logoUrl must be an https URL without user name or password, or that of an uploaded picture.'],
})

/**
 * Stores a picture that an organization can use as its logo. Nothing is changed yet: whether the change must be signed
 * or approved is decided when the logo is set. Throws the errors of `requireMember` and `renderUpload`.
 */
export async function offerLogo(
  { db, config, workshop }: ServerContext & { workshop: Workshop },
  asking: MemberContext,
  bytes: Buffer,
  now: Date,
): Promise<OfferedPicture> {
  await requireMember({ db, config }, asking, 'manage_org', now)
  const rendered = await renderUpload(workshop, asking.session.userId, 'organization', bytes)
  return actingTransaction(db, asking.session, async (tx) => {
    await requireMember({ db: tx, config }, asking, 'manage_org', now)
    const owner = { kind: 'organization', id: asking.organizationId } as const
    const { pictureId, sha256, expiresAt } = await offerPicture(tx, owner, rendered, now)
    return { url: pictureUrl(config.baseUrl, pictureId), sha256, expiresAt: expiresAt.toISOString() }
  })
}

/**
 * Puts the picture of a new logo to use, and deletes the one before. The caller has locked the organization, and stores
 * the URL. Throws `invalid_request`, `picture_not_found`, `picture_changed`.
 */
export async function moveLogo(
  { tx, baseUrl }: { tx: Transaction } & Pick<Config, 'baseUrl'>,
  { organizationId: id, logoUrl: before }: Member['organization'],
  { logoUrl, logoSha256: sha256 }: { logoUrl: string | null | undefined; logoSha256: string | undefined },
  now: Date,
): Promise<void> {
  if (logoUrl === undefined || logoUrl === before) return
  const pictureId = logoUrl === null ? undefined : pictureIdOf(baseUrl, logoUrl)
  if (pictureId !== undefined) return usePicture(tx, { kind: 'organization', id }, { pictureId, sha256 }, now)
  if (sha256 !== undefined) throw errors.invalid_request()
  if (logoUrl !== null && (!isPictureUrl(logoUrl) || isOfThisService(baseUrl, logoUrl))) throw errors.invalid_request()
  await removePicture(tx, id)
}
