/**
 * How many seconds are left, by the server's clock: `servedAt` is its time when it wrote the page, `sinceMilliseconds`
 * how long ago that was. The clocks of devices are minutes wrong more often than one would think.
 */
export function secondsLeft(expiresAt: string, servedAt: string, sinceMilliseconds: number): number {
  const left = Date.parse(expiresAt) - Date.parse(servedAt) - sinceMilliseconds
  return Math.max(0, Math.ceil(left / 1000))
}

/** How long ago the server answered with this page. */
export function millisecondsSinceServed(): number {
  const [navigation] = performance.getEntriesByType('navigation')
  const began = navigation instanceof PerformanceNavigationTiming ? navigation.responseStart : 0
  return performance.now() - began
}

/** Minutes and seconds as on a clock. */
export function asClock(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
