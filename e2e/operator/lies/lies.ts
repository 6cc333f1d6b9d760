import { appKeyPlanted } from './app-keys/app-key-planted.ts'
import { recipientChanged } from './app-keys/recipient-changed.ts'
import { redirectUriAdded } from './app-keys/redirect-uri-added.ts'
import { responseRedirected } from './app-keys/response-redirected.ts'
import { entryDatedBack } from './log/entry-dated-back.ts'
import { entryLeftOut } from './log/entry-left-out.ts'
import { keyReturned } from './log/key-returned.ts'
import { keyRotated } from './log/key-rotated.ts'
import { keyRowChanged } from './log/key-row-changed.ts'
import { logRebuilt } from './log/log-rebuilt.ts'
import { actDatedBack } from './organizations/act-dated-back.ts'
import { actRepeated } from './organizations/act-repeated.ts'
import { memberAdded } from './organizations/member-added.ts'
import { memberInvented } from './organizations/member-invented.ts'
import { trailRewritten } from './organizations/trail-rewritten.ts'
import { approvalMisdated } from './signing/approval-misdated.ts'
import { requestRowChanged } from './signing/request-row-changed.ts'

/** All lies, by name. */
export const lies = {
  appKeyPlanted,
  recipientChanged,
  redirectUriAdded,
  responseRedirected,
  entryDatedBack,
  entryLeftOut,
  keyReturned,
  keyRotated,
  keyRowChanged,
  logRebuilt,
  actDatedBack,
  actRepeated,
  memberAdded,
  memberInvented,
  trailRewritten,
  approvalMisdated,
  requestRowChanged,
}
