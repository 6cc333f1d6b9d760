import { drawPage } from '../ui/Root.tsx'
import '../ui/entries.css'
import '../ui/exact-text.css'
import '../ui/sections.css'
import './account.css'
import { Account } from './Account.tsx'

await drawPage(Account)
