/** Checks whether an address is a picture of this service, the only kind that pages load. */
export function isPictureOf(baseUrl: string, address: string): boolean {
  return address.startsWith(`${baseUrl}/pictures/`)
}

/** Returns the address of a picture of this service in the smallest stored size that is sharp at `pixels` anywhere. */
export function pictureOfSize(address: string, pixels: number): string {
  const needed = pixels * 2
  return `${address}/${needed <= 64 ? 64 : needed <= 256 ? 256 : 512}`
}
