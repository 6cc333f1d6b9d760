const pictureId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Checks whether an address is a picture of this service, the only kind that pages load. Other addresses below it could
 * lead to anything that the service answers.
 */
export function isPictureOf(baseUrl: string, address: string): boolean {
  const folder = `${baseUrl}/pictures/`
  return address.startsWith(folder) && pictureId.test(address.slice(folder.length))
}

/** Returns the address of a picture of this service in the smallest stored size that is sharp at `pixels` anywhere. */
export function pictureOfSize(address: string, pixels: number): string {
  const needed = pixels * 2
  return `${address}/${needed <= 64 ? 64 : needed <= 256 ? 256 : 512}`
}
