"""Session seam: errors as events in the user's language, and as stored messages."""

from seamwise.seams.session.codes import CODES as CODES
from seamwise.seams.session.events import EventDetails as EventDetails
from seamwise.seams.session.events import OperationDetails as OperationDetails
from seamwise.seams.session.events import defect as defect
from seamwise.seams.session.events import event as event
from seamwise.seams.session.messages import agent_not_found as agent_not_found
from seamwise.seams.session.messages import command_not_found as command_not_found
from seamwise.seams.session.messages import error_event as error_event
from seamwise.seams.session.messages import message as message
from seamwise.seams.session.messages import model_not_found as model_not_found
from seamwise.seams.session.messages import unknown as unknown
from seamwise.seams.session.observer import observe as observe
from seamwise.seams.session.on import on as on
from seamwise.seams.session.publishing import Session as Session
from seamwise.seams.session.publishing import publish as publish
from seamwise.seams.session.shape import ErrorEvent as ErrorEvent
from seamwise.seams.session.shape import EventName as EventName
from seamwise.seams.session.shape import NamedMessage as NamedMessage
from seamwise.seams.session.shape import StoredErrorEvent as StoredErrorEvent
from seamwise.seams.session.shape import decode as decode
from seamwise.seams.session.shape import encode as encode
from seamwise.seams.wire.decoding import UnreadableBody as UnreadableBody
