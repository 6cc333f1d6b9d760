import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { PictureSize, RenderedPicture } from './workshop.ts'

export type OwnerKind = 'identity' | 'app' | 'organization' | 'service'
/** Identity, app or organization that has a picture, or the service. Only its own room knows the kind of its ID. */
export type PictureOwner = { kind: OwnerKind; id: string }

type NewPicture = { owner: PictureOwner; pictureId: string; rendered: RenderedPicture; expiresAt: Date | null }

export async function insertPicture(tx: Transaction, picture: NewPicture, now: Date): Promise<void> {
  const { owner, pictureId, rendered, expiresAt } = picture
  await tx
    .insertInto('picture')
    .values({
      owner_id: owner.id,
      picture_id: pictureId,
      owner_kind: owner.kind,
      small: Buffer.from(rendered[64]),
      medium: Buffer.from(rendered[256]),
      large: Buffer.from(rendered[512]),
      created_at: now,
      expires_at: expiresAt,
    })
    .execute()
}

const columns = { 64: 'small', 256: 'medium', 512: 'large' } as const

/** Finds a picture by its ID alone, in one size. */
export function findBytes(db: Database, pictureId: string, size: PictureSize, now: Date) {
  return db
    .selectFrom('picture')
    .select(`${columns[size]} as bytes`)
    .where('picture_id', '=', pictureId)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .executeTakeFirst()
}

/** Finds the picture that an owner uses, in its largest size. */
export function findPictureInUse(db: Database, ownerId: string) {
  return db
    .selectFrom('picture')
    .select(['picture_id as pictureId', 'large'])
    .where('owner_id', '=', ownerId)
    .where('expires_at', 'is', null)
    .executeTakeFirst()
}

/** Locks one picture of an owner, in use or not. */
export function lockPicture(tx: Transaction, ownerId: string, pictureId: string, now: Date) {
  return tx
    .selectFrom('picture')
    .select('large')
    .where('owner_id', '=', ownerId)
    .where('picture_id', '=', pictureId)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .forUpdate()
    .executeTakeFirst()
}

export async function updateInUse(tx: Transaction, ownerId: string, pictureId: string): Promise<void> {
  await tx
    .updateTable('picture')
    .set({ expires_at: null })
    .where('owner_id', '=', ownerId)
    .where('picture_id', '=', pictureId)
    .execute()
}

/** Deletes the pictures that an owner uses, except one. */
export async function deletePicturesInUse(tx: Transaction, ownerId: string, except: string | undefined) {
  await tx
    .deleteFrom('picture')
    .where('owner_id', '=', ownerId)
    .where('expires_at', 'is', null)
    .$if(except !== undefined, (query) => query.where('picture_id', '!=', except ?? ''))
    .execute()
}

/** Deletes the oldest of the pictures that an owner has uploaded and does not use, so that at most `count` stay. */
export async function deleteSurplus(tx: Transaction, ownerId: string, count: number): Promise<void> {
  const surplus = tx
    .selectFrom('picture')
    .select('picture_id')
    .where('owner_id', '=', ownerId)
    .where('expires_at', 'is not', null)
    .orderBy('created_at', 'desc')
    .orderBy('picture_id')
    .offset(count)
  await tx.deleteFrom('picture').where('owner_id', '=', ownerId).where('picture_id', 'in', surplus).execute()
}

/** Deletes the pictures of an owner, except some. */
export async function deleteOtherPictures(tx: Transaction, ownerId: string, kept: string[]): Promise<void> {
  await tx
    .deleteFrom('picture')
    .where('owner_id', '=', ownerId)
    .where(sql<boolean>`picture_id <> all(${kept}::uuid[])`)
    .execute()
}

export async function deletePictures(tx: Transaction, ownerIds: readonly string[]): Promise<void> {
  if (ownerIds.length > 0) await tx.deleteFrom('picture').where('owner_id', 'in', ownerIds).execute()
}

export async function deleteExpired(db: Database, now: Date, batch: number): Promise<number> {
  const expired = db.selectFrom('picture').select('picture_id').where('expires_at', '<=', now).limit(batch)
  const { numDeletedRows } = await db
    .deleteFrom('picture')
    .where('picture_id', 'in', expired)
    .where('expires_at', '<=', now)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
