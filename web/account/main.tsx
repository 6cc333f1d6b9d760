import { drawPage } from '../ui/Root.tsx'
import './account.css'
import { Account } from './Account.tsx'

await drawPage(Account)
