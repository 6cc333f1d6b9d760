import type { ActivityEntry } from '@countersign/protocol/accounts/account'

const shown = 4
const signIns = ['session.created', 'account.created', 'account.recovered', 'sso.login.succeeded']

/** Picks the last sign-in to each app, and to this service, on each device, newest first. */
export function latestSignIns(entries: ActivityEntry[]): ActivityEntry[] {
  const known = new Set<string>()
  return entries
    .filter(({ action }) => signIns.includes(action) || action === 'app.authorized' || action === 'app.signed_in')
    .filter(({ clientId, device }) => {
      const key = `${clientId ?? ''} ${device ?? ''}`
      return !known.has(key) && known.add(key)
    })
    .slice(0, shown)
}
