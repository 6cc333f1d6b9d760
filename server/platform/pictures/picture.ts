import { randomUUID } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import { isUuid } from '@countersign/protocol/values'
import { addSeconds } from '#platform/clock.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { defineErrors } from '#platform/api-error.ts'
import { hasPlainHost } from '#platform/origin.ts'
import type { Fit } from './codec/codec.ts'
import { readPictureHeader } from './header.ts'
import { type PictureSize, type RenderedPicture, RenderFailure, type Workshop } from './workshop.ts'
import * as store from './store.ts'
import type { OwnerKind, PictureOwner } from './store.ts'

export type { PictureOwner }

const errors = defineErrors({
  invalid_picture: [400, 'The picture cannot be decoded.'],
  picture_not_found: [404, 'There is no such picture.'],
  picture_changed: [409, 'The picture is not the one that was uploaded: logoSha256 names another one.'],
  unsupported_media_type: [415, 'Send a picture as PNG, JPEG or WebP.'],
  temporarily_unavailable: [503, 'The service is too busy to process the picture. Retry later.'],
})

const tooLarge = `A picture has at most ${limits.pictureSideMax} pixels on each side.`

/** People look out of their picture; a logo must not be cut. */
const fits: Record<OwnerKind, Fit> = { identity: 'cover', app: 'contain', organization: 'contain', service: 'contain' }

/**
 * Renders an uploaded picture for its owner, without anything but its pixels. `by` is the user who waits for it. Throws
 * `unsupported_media_type`, `invalid_picture`, `temporarily_unavailable`.
 */
export function renderUpload(workshop: Workshop, by: string, kind: OwnerKind, bytes: Buffer): Promise<RenderedPicture> {
  return renderBytes(workshop, by, fits[kind], bytes)
}

/** Renders a picture from a file. Throws like `renderUpload`. */
export async function renderBytes(workshop: Workshop, by: string, fit: Fit, bytes: Buffer): Promise<RenderedPicture> {
  const header = readPictureHeader(bytes)
  if (!header) throw errors.unsupported_media_type()
  const { format, width, height } = header
  if (Math.max(width, height) > limits.pictureSideMax) throw errors.invalid_picture({ sentence: tooLarge })
  if (Math.min(width, height) < 1) throw errors.invalid_picture()
  if (header.isAnimated && format === 'webp')
    throw errors.invalid_picture({ sentence: 'The picture is animated. Send a still one.' })
  try {
    return await workshop.render(by, { format, bytes: new Uint8Array(bytes), width, height, fit })
  } catch (error) {
    if (!(error instanceof RenderFailure)) throw error
    throw error.isOverload
      ? errors.temporarily_unavailable({ headers: { 'retry-after': '5' } })
      : errors.invalid_picture()
  }
}

/** Returns the URL of a picture, of 256 pixels. Another size is below it. */
export function pictureUrl(baseUrl: URL, pictureId: string): string {
  return `${baseUrl.origin}/pictures/${pictureId}`
}

/** Returns the ID in the URL of a picture of this service, or undefined for any other URL. */
export function pictureIdOf(baseUrl: URL, url: string): string | undefined {
  const prefix = `${baseUrl.origin}/pictures/`
  const id = url.startsWith(prefix) ? url.slice(prefix.length) : ''
  return isUuid(id) ? id : undefined
}

/**
 * Checks whether a URL leads to this service. Only the exact URL of a picture may name one here: in another spelling,
 * it could be that of another owner, or no picture at all.
 */
export function isOfThisService(baseUrl: URL, url: string): boolean {
  return URL.parse(url)?.origin === baseUrl.origin
}

/**
 * Stores the picture of an owner, whose row the caller has locked, in place of an earlier one. Returns its ID: random,
 * because one computed from the picture would connect identities that show the same one.
 */
export async function replacePicture(
  tx: Transaction,
  owner: PictureOwner,
  rendered: RenderedPicture,
  now: Date,
): Promise<string> {
  const pictureId = randomUUID()
  await store.deletePicturesInUse(tx, owner.id, undefined)
  await store.insertPicture(tx, { owner, pictureId, rendered, expiresAt: null }, now)
  return pictureId
}

/** Stores another picture of an owner beside those that it has. Returns its ID. */
export async function addPicture(
  tx: Transaction,
  owner: PictureOwner,
  rendered: RenderedPicture,
  now: Date,
): Promise<string> {
  const pictureId = randomUUID()
  await store.insertPicture(tx, { owner, pictureId, rendered, expiresAt: null }, now)
  return pictureId
}

/** Deletes the pictures of an owner, except some. */
export function deleteOtherPictures(tx: Transaction, ownerId: string, kept: string[]): Promise<void> {
  return store.deleteOtherPictures(tx, ownerId, kept)
}

/** A picture that its owner has uploaded and can put to use for a while. */
export type OfferedPicture = { pictureId: string; sha256: string; expiresAt: Date }

/** Stores an uploaded picture until its owner decides about it. Only the latest few are kept. */
export async function offerPicture(
  tx: Transaction,
  owner: PictureOwner,
  rendered: RenderedPicture,
  now: Date,
): Promise<OfferedPicture> {
  const pictureId = randomUUID()
  const expiresAt = addSeconds(now, limits.offeredPictureLifetimeSeconds)
  await store.insertPicture(tx, { owner, pictureId, rendered, expiresAt }, now)
  await store.deleteSurplus(tx, owner.id, limits.offeredPicturesMax)
  return { pictureId, sha256: digestOf(rendered[512]), expiresAt }
}

/**
 * Puts an uploaded picture to use in place of an earlier one, if it is the one with this SHA-256 (hex, of its largest
 * size). The caller has locked its owner. Throws `picture_not_found`, `picture_changed`.
 */
export async function usePicture(
  tx: Transaction,
  owner: PictureOwner,
  { pictureId, sha256: expected }: Pick<OfferedPicture, 'pictureId'> & { sha256: string | undefined },
  now: Date,
): Promise<void> {
  const picture = await store.lockPicture(tx, owner.id, pictureId, now)
  if (!picture) throw errors.picture_not_found()
  if (digestOf(picture.large) !== expected) throw errors.picture_changed()
  await store.updateInUse(tx, owner.id, pictureId)
  await store.deletePicturesInUse(tx, owner.id, pictureId)
}

function digestOf(bytes: Uint8Array): string {
  return Buffer.from(sha256(bytes)).toString('hex')
}

/** Deletes the picture that an owner uses, whose row the caller has locked. */
export function removePicture(tx: Transaction, ownerId: string): Promise<void> {
  return store.deletePicturesInUse(tx, ownerId, undefined)
}

/** Deletes all pictures of owners that are deleted in this transaction. */
export function deletePictures(tx: Transaction, ownerIds: readonly string[]): Promise<void> {
  return store.deletePictures(tx, ownerIds)
}

/** Checks whether a picture URL is allowed: https, without user name and password. */
export function isPictureUrl(text: string): boolean {
  const url = URL.parse(text)
  return (
    url?.protocol === 'https:' && hasPlainHost(url) && url.username === '' && url.password === '' && !/\s/.test(text)
  )
}

/** Finds a picture by its ID, in one size. */
export async function findPicture(
  db: Database,
  pictureId: string,
  size: PictureSize,
  now: Date,
): Promise<Uint8Array | undefined> {
  return (await store.findBytes(db, pictureId, size, now))?.bytes
}

/** Returns the picture of an identity for the export of its account, or null. */
export async function exportPicture(db: Database, ownerId: string) {
  const picture = await store.findPictureInUse(db, ownerId)
  return picture ? { mediaType: 'image/webp' as const, base64: Buffer.from(picture.large).toString('base64') } : null
}

/** Deletes uploaded pictures that were never put to use. */
export function pruneOfferedPictures(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteExpired(db, now, batch)
}
