import { foldHandle } from '@countersign/protocol/formats/handle'

/** Handles that would let someone pass for the service or for its staff. */
const reserved = new Set(
  `abuse account accounts admin administrator api auth billing business contact countersign developer developers help
  hostmaster info legal login mail moderator null oauth official operator owner postmaster privacy register root
  security service signin staff status support system team trust undefined webmaster www`.split(/\s+/),
)

export function isReservedHandle(handle: string): boolean {
  return reserved.has(foldHandle(handle).replaceAll(/[._-]/g, ''))
}
