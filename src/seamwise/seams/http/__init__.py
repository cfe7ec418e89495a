"""The HTTP seam: an error as a status, headers and a body, in one envelope with success, or as a problem."""

from seamwise.seams.http.bodies import envelope as envelope
from seamwise.seams.http.bodies import named as named
from seamwise.seams.http.bodies import problem as problem
from seamwise.seams.http.bodies import tagged as tagged
from seamwise.seams.http.on import on as on
from seamwise.seams.http.request_ids import request_id as request_id
from seamwise.seams.http.response import HttpResponse as HttpResponse
from seamwise.seams.http.response import response as response
from seamwise.seams.http.shape import HttpError as HttpError
from seamwise.seams.http.shape import Place as Place
from seamwise.seams.http.shape import defect as defect
