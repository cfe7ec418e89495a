"""Session seam: errors as events in the user's language, and as stored messages."""

from seamwise.seams.session.codes import CODES as CODES
from seamwise.seams.session.events import defect as defect
from seamwise.seams.session.events import event as event
from seamwise.seams.session.messages import StoredError as StoredError
from seamwise.seams.session.observer import chat_retry as chat_retry
from seamwise.seams.session.observer import observer as observer
from seamwise.seams.session.on import on as on
from seamwise.seams.session.publishing import Receiver as Receiver
from seamwise.seams.session.publishing import publish as publish
from seamwise.seams.session.shape import ErrorEvent as ErrorEvent
from seamwise.seams.session.shape import decode as decode
from seamwise.seams.session.shape import encode as encode
from seamwise.seams.wire.decoding import UnreadableBody as UnreadableBody
